#include "value_blocks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace countwise {
namespace {

constexpr int64_t kRadixRows = 4096;  // below this std::sort beats six passes with their histograms
constexpr int kDigitBits = 11;        // 6 digits cover 64 bits, and 2048 write streams stay in cache
constexpr int kDigits = 6;
constexpr int kRadix = 1 << kDigitBits;
constexpr double kMaxExact = 9007199254740992.0;  // 2^53: integers in a double are exact below
constexpr double kMaxSum = 1e300;                 // leaves room for sum * log2(sum)
constexpr int kWeightBits = 60;                   // scaled weights sum to less than 2^60

struct Item {
  uint64_t key;     // orders as the value does
  int64_t payload;  // the class (no weights) or the row (weights)
};

// The bits of a double, changed so that unsigned order is numeric order. Adding 0.0 turns -0.0 into 0.0.
uint64_t to_key(double value) {
  value += 0.0;
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return (bits >> 63) ? ~bits : bits | (uint64_t{1} << 63);
}

double from_key(uint64_t key) {
  const uint64_t bits = (key >> 63) ? key & ~(uint64_t{1} << 63) : ~key;
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

int digit(uint64_t key, int pass) { return static_cast<int>((key >> (pass * kDigitBits)) & (kRadix - 1)); }

// Least significant digit first; digits that all keys share are skipped.
void radix_sort(std::vector<Item>& items) {
  std::vector<std::array<int64_t, kRadix>> counts(kDigits);
  for (auto& count : counts) count.fill(0);
  for (const Item& item : items) {
    for (int pass = 0; pass < kDigits; ++pass) ++counts[pass][digit(item.key, pass)];
  }
  std::vector<Item> buffer(items.size());
  for (int pass = 0; pass < kDigits; ++pass) {
    auto& start = counts[pass];
    if (start[digit(items[0].key, pass)] == static_cast<int64_t>(items.size())) continue;
    int64_t offset = 0;
    for (int64_t& s : start) {
      const int64_t count = s;
      s = offset;
      offset += count;
    }
    for (const Item& item : items) buffer[start[digit(item.key, pass)]++] = item;
    items.swap(buffer);
  }
}

// Columns that are cut several times come sorted.
void sort_items(std::vector<Item>& items) {
  const auto before = [](const Item& a, const Item& b) { return a.key < b.key; };
  if (std::is_sorted(items.begin(), items.end(), before)) return;
  if (static_cast<int64_t>(items.size()) >= kRadixRows) return radix_sort(items);
  std::sort(items.begin(), items.end(), before);
}

// 1 when the weights are integers with an exact sum; otherwise a power of two small enough to tell weights
// apart and large enough for the sum. It depends on the largest weight and the number of rows only, not on
// their order.
double weight_unit(const LabelledColumn& column) {
  if (!column.weights) return 1.0;
  bool integral = true;
  double sum = 0.0, largest = 0.0, rows = 0.0;
  for (int64_t i = 0; i < column.n_rows; ++i) {
    const double w = column.weights[i];
    if (!(w >= 0.0) || std::isinf(w)) throw std::invalid_argument("weights must be finite and not negative");
    integral = integral && w == std::floor(w);
    sum += w;
    largest = std::max(largest, w);
    rows += w > 0.0;
  }
  if (sum > kMaxSum) throw std::invalid_argument("weights are too large to be summed");
  if (integral && sum < kMaxExact) return 1.0;
  const double unit = std::ldexp(1.0, std::ilogb(largest) + 1 + std::ilogb(rows) + 1 - kWeightBits);
  return std::max(unit, std::numeric_limits<double>::min());
}

std::vector<Item> keyed_items(const LabelledColumn& column) {
  std::vector<Item> items;
  items.reserve(column.n_rows);
  for (int64_t i = 0; i < column.n_rows; ++i) {
    if (!std::isfinite(column.values[i])) throw std::invalid_argument("values must be finite");
    if (column.classes[i] < 0 || column.classes[i] >= column.n_classes) {
      throw std::invalid_argument("classes must lie in 0 .. n_classes - 1");
    }
    if (column.weights && column.weights[i] == 0.0) continue;
    items.push_back({to_key(column.values[i]), column.weights ? i : column.classes[i]});
  }
  return items;
}

// Adds one distinct value at a time to the blocks.
class BlockBuilder {
 public:
  BlockBuilder(bool merge, int64_t n_rows, ValueBlocks& out) : merge_(merge), out_(out) {
    out_.cls.reserve(n_rows);
    out_.weight.reserve(n_rows);
  }

  // The entries of cls and weight from `first` on belong to `value`.
  void close(double value, size_t first) {
    const size_t n_entries = out_.cls.size() - first;
    if (n_entries == 0) return;
    const int32_t pure = n_entries == 1 ? out_.cls.back() : -1;
    if (merge_ && pure >= 0 && pure == last_pure_) {
      out_.weight[first - 1] += out_.weight[first];
      out_.cls.pop_back();
      out_.weight.pop_back();
      out_.hi.back() = value;
      return;
    }
    out_.lo.push_back(value);
    out_.hi.push_back(value);
    out_.ptr.push_back(static_cast<int64_t>(first));
    last_pure_ = pure;
  }

 private:
  bool merge_;
  int32_t last_pure_ = -1;
  ValueBlocks& out_;
};

}  // namespace

void sort_into_blocks(const LabelledColumn& column, bool merge_pure_runs, ValueBlocks& out) {
  out = ValueBlocks{};
  out.unit = weight_unit(column);
  std::vector<Item> items = keyed_items(column);
  if (!items.empty()) sort_items(items);

  BlockBuilder builder(merge_pure_runs, static_cast<int64_t>(items.size()), out);
  std::vector<int64_t> slot(column.n_classes, -1);  // where a class of the current value is in out.cls
  for (size_t i = 0; i < items.size();) {
    const uint64_t key = items[i].key;
    const int64_t first = static_cast<int64_t>(out.cls.size());
    for (; i < items.size() && items[i].key == key; ++i) {
      const int64_t row = items[i].payload;
      const int32_t c = static_cast<int32_t>(column.weights ? column.classes[row] : row);
      const int64_t w = column.weights ? std::llround(column.weights[row] / out.unit) : 1;
      if (w == 0) continue;
      if (slot[c] < first) {
        slot[c] = static_cast<int64_t>(out.cls.size());
        out.cls.push_back(c);
        out.weight.push_back(0);
      }
      out.weight[slot[c]] += w;
      out.total += w;
    }
    builder.close(from_key(key), static_cast<size_t>(first));
    // A pure value that joined the block before gives its slot back, so slots above the end cannot be stale.
    if (static_cast<int64_t>(out.cls.size()) == first && first > 0) slot[out.cls.back()] = -1;
  }
  out.ptr.push_back(static_cast<int64_t>(out.cls.size()));
}

}  // namespace countwise
