// Which earlier attributes are worth having as parents: those that tell most about the attribute (gain), or those that
// let the whole network tell most about the class (discriminative).
#pragma once

#include "common.hpp"

namespace countwise {

// Rows to learn a structure from. Codes are all below their column's arity. Weights may be null, and what a row loses
// of its weight when it is left out: then all are 1.
struct SearchRows {
  const std::vector<Column>& columns;
  Column target;
  uint32_t n_classes;
  const double* weights;
  const double* left_out;
  size_t n_rows;

  double weight_of(size_t row) const { return weights ? weights[row] : 1.0; }
  double left_out_of(size_t row) const { return left_out ? left_out[row] : 1.0; }
};

// An attribute's parents are earlier in `order`, and among its first `n_candidates`.
struct SearchLimits {
  const std::vector<uint32_t>& order;
  uint32_t n_parents;     // of one attribute, at most
  uint32_t n_candidates;  // for each attribute
};

using ParentLists = std::vector<std::vector<uint32_t>>;  // [attribute], the strongest first

// The parents of greatest leave-one-out gain
//   G(i | j) = 1/N sum n_yjk [log((n_yjk - u_y + A f) / (n_yj - u_y + A)) - log f],  f = P(x_i = k | y) without the
//   row,
// with the best A of 1, 4, 16, 64; only where it is positive. u_y is what rows of class y lose, their weighted mean.
ParentLists gain_parents(const SearchRows& rows, const SearchLimits& limits);

// What the discriminative search looks at.
struct ClassSearch {
  const std::vector<uint32_t>& sequence;  // attributes as they are visited: [round][position], n_parents rounds
  const std::vector<uint32_t>& scored;    // rows whose class is to be predicted
  uint32_t n_later;    // candidates of an attribute after its first parent: the best of the first round
  double least_score;  // that a parent must reach
};

// Greedy, one parent at a time: of the candidates j of attribute i the one with the largest Gs^2 / H,
//   delta_ry = log f_i(with j) - log f_i,  Gs = sum_r (delta_r,y_r - sum_y p_ry delta_ry),  H = sum_r Var_p(delta_r),
// if Gs > 0. Each scored row is left out of its own counts; scores are updated at once.
ParentLists class_parents(const SearchRows& rows, const SearchLimits& limits, const ClassSearch& search);

}  // namespace countwise
