#include "sum_upwards.hpp"

#include <algorithm>
#include <stdexcept>

namespace countwise {
namespace {

constexpr const char* kNoTree = "parents do not make a tree";

// Children of every node, side by side.
struct Children {
  Children(const int32_t* parent, size_t n_nodes) : first(n_nodes + 1, 0), node(n_nodes > 0 ? n_nodes - 1 : 0) {
    for (size_t i = 1; i < n_nodes; ++i) {
      if (parent[i] < 0 || static_cast<size_t>(parent[i]) >= n_nodes) throw std::invalid_argument(kNoTree);
      ++first[static_cast<size_t>(parent[i]) + 1];
    }
    for (size_t i = 0; i < n_nodes; ++i) first[i + 1] += first[i];
    std::vector<size_t> next(first.begin(), first.end() - 1);
    for (size_t i = 1; i < n_nodes; ++i) node[next[static_cast<size_t>(parent[i])]++] = i;
  }
  std::vector<size_t> first, node;
};

// The nodes, each after the one above it.
std::vector<size_t> downwards(const Children& children, size_t n_nodes) {
  std::vector<size_t> order;
  order.reserve(n_nodes);
  if (n_nodes > 0) order.push_back(0);
  for (size_t i = 0; i < order.size(); ++i)
    for (size_t c = children.first[order[i]]; c < children.first[order[i] + 1]; ++c) order.push_back(children.node[c]);
  if (order.size() != n_nodes) throw std::invalid_argument(kNoTree);
  return order;
}

}  // namespace

SummedCells sum_upwards(const int32_t* parent, size_t n_nodes, const KeyedCounts& own, size_t arity) {
  const Children children(parent, n_nodes);
  const auto order = downwards(children, n_nodes);
  std::vector<size_t> own_ptr(n_nodes + 1, 0);
  for (size_t i = 0; i < own.n; ++i) ++own_ptr[static_cast<size_t>(own.key[i]) / arity + 1];
  for (size_t i = 0; i < n_nodes; ++i) own_ptr[i + 1] += own_ptr[i];

  // From the leaves up, into an arena: the cells of a node are begin .. end of it.
  std::vector<int32_t> value;
  std::vector<double> count, sum(arity, 0.0);
  std::vector<char> has(arity, 0);
  std::vector<size_t> begin(n_nodes), end(n_nodes);
  std::vector<int32_t> met;
  const auto add = [&](int32_t v, double n) {
    if (!has[static_cast<size_t>(v)]) {
      has[static_cast<size_t>(v)] = 1;
      met.push_back(v);
    }
    sum[static_cast<size_t>(v)] += n;
  };
  for (size_t i = n_nodes; i-- > 0;) {
    const size_t node = order[i];
    for (size_t cell = own_ptr[node]; cell < own_ptr[node + 1]; ++cell)
      add(static_cast<int32_t>(static_cast<size_t>(own.key[cell]) % arity), own.count[cell]);
    for (size_t c = children.first[node]; c < children.first[node + 1]; ++c)
      for (size_t cell = begin[children.node[c]]; cell < end[children.node[c]]; ++cell) add(value[cell], count[cell]);
    std::sort(met.begin(), met.end());
    begin[node] = value.size();
    for (const int32_t v : met) {
      value.push_back(v);
      count.push_back(sum[static_cast<size_t>(v)]);
      sum[static_cast<size_t>(v)] = 0;
      has[static_cast<size_t>(v)] = 0;
    }
    end[node] = value.size();
    met.clear();
  }

  SummedCells out;
  out.cell_ptr.reserve(n_nodes + 1);
  out.cell_value.reserve(value.size());
  out.cell_count.reserve(value.size());
  out.cell_ptr.push_back(0);
  for (size_t node = 0; node < n_nodes; ++node) {
    const auto from = static_cast<std::ptrdiff_t>(begin[node]), to = static_cast<std::ptrdiff_t>(end[node]);
    out.cell_value.insert(out.cell_value.end(), value.begin() + from, value.begin() + to);
    out.cell_count.insert(out.cell_count.end(), count.begin() + from, count.begin() + to);
    out.cell_ptr.push_back(static_cast<int64_t>(out.cell_value.size()));
  }
  return out;
}

}  // namespace countwise
