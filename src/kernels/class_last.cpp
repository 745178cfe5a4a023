#include "class_last.hpp"

namespace countwise {

Contexts ClassLast::top() const {
  Contexts out;
  for (int32_t child = first_child_[0]; child < first_child_[1]; ++child)
    out.member.push_back({static_cast<uint32_t>(tree_.branch[child]), child});
  out.first.push_back(static_cast<uint32_t>(out.member.size()));
  out.parent.push_back(0);
  return out;
}

Contexts ClassLast::descend(const Contexts& contexts, uint32_t arity, Children& next) const {
  Contexts deeper;
  Groups groups(arity);
  next.reserve(contexts.size());
  size_t n_members = 0;
  for (const Member& m : contexts.member)
    n_members += static_cast<size_t>(first_child_[m.node + 1] - first_child_[m.node]);
  deeper.member.reserve(n_members);
  deeper.first.reserve(n_members + 1);  // at most: memory that is not written to is not taken
  deeper.parent.reserve(n_members);
  for (size_t context = 0; context < contexts.size(); ++context) {
    const Member *begin = contexts.begin(context), *end = contexts.end(context);
    if (end - begin == 1) {  // most contexts, far from the root: children are in order already
      const int32_t from = first_child_[begin->node], to = first_child_[begin->node + 1];
      next.push(tree_.branch + from, tree_.branch + to);
      for (int32_t child = from; child < to; ++child) {
        deeper.member.push_back({begin->y, child});
        deeper.first.push_back(static_cast<uint32_t>(deeper.member.size()));
        deeper.parent.push_back(static_cast<uint32_t>(context));
      }
    } else {
      descend_many(begin, end, groups, deeper, next);
      deeper.parent.resize(deeper.size(), static_cast<uint32_t>(context));
    }
  }
  return deeper;
}

void ClassLast::descend_many(const Member* begin, const Member* end, Groups& groups, Contexts& deeper,
                             Children& next) const {
  auto for_children = [&](auto&& f) {
    for (const Member* m = begin; m != end; ++m)
      for (int32_t child = first_child_[m->node]; child < first_child_[m->node + 1]; ++child)
        f(static_cast<uint32_t>(tree_.branch[child]), Member{m->y, child});
  };
  for_children([&](uint32_t code, Member) { groups.count(code); });
  const std::vector<uint32_t>& codes = groups.sorted();
  next.push(codes.data(), codes.data() + codes.size());
  auto at = static_cast<uint32_t>(deeper.member.size());
  for (uint32_t code : codes) {
    const uint32_t size = groups.size_of(code);
    groups.set(code, at);
    deeper.first.push_back(at += size);
  }
  deeper.member.resize(at);
  for_children([&](uint32_t code, Member member) { deeper.member[groups.place(code)] = member; });
  groups.clear();
}

}  // namespace countwise
