// Compiled models: rows of codes in, log joint probabilities of every class out.
#pragma once

#include "trie.hpp"

namespace countwise {

// One attribute's conditional distribution: columns by position in the batch.
struct Term {
  uint32_t child;
  uint32_t child_arity;
  std::vector<uint32_t> parents;
  std::vector<TrieLevel> levels;
  std::vector<SparseLevel> deep;  // below `levels`, where few classes have seen a context
  std::vector<double> table;      // [parent 1]..[parent k][value][class] written out, where that is small; else empty
  std::vector<uint32_t> parent_arity;
  std::vector<double> log_base = {};  // flat: log base probability of every value; else empty
  bool flat = false;                  // a value without a cell has a probability whatever the level above says
};

// Fills term.table where it takes not much more room than the trie: one look-up instead of a walk.
void write_out(Term& term, size_t n_classes);

class Lookup {
 public:
  Lookup(uint32_t n_classes, size_t n_terms) : n_classes_(n_classes), terms_(n_terms) {}

  // Terms have places of their own, so that threads can compile them at the same time.
  void set(size_t position, Term term) { terms_.at(position) = std::move(term); }
  size_t n_terms() const { return terms_.size(); }
  uint32_t n_classes() const { return n_classes_; }

  // out[row][class] = log_prior[class] + sum over terms of factor * log P(x_i | class, parents). An attribute value
  // that training never met (code == arity) contributes nothing, nor does a term of factor 0; as a parent such a value
  // ends the walk.
  void log_joint(const std::vector<Column>& columns, const double* log_prior, const double* factors, size_t n_rows,
                 int n_threads, double* out) const;

  // out[row][term][class] = what each term adds.
  void contributions(const std::vector<Column>& columns, const double* factors, size_t n_rows, int n_threads,
                     double* out) const;

 private:
  uint32_t n_classes_;
  std::vector<Term> terms_;
};

// out[row] = softmax of out[row], in place.
void softmax_rows(size_t n_rows, size_t n_classes, int n_threads, double* out);

}  // namespace countwise
