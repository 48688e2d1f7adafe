// Matrix: what the families of linear algebra share. Their loops work on a stack of matrices [count, m, n]; the batch
// dimensions come back with the result.
#pragma once

#include <functional>

#include "ops/elementwise.h"

namespace tpu::ops {

/// NotImplemented for what LAPACK has no kernel for: the host says no in its own words.
void expect_factorable(const Context& c, ElementType type);

/// LinAlgError, in the words of torch's own checks, for the first matrix of a stack for which `is_bad` [count] holds.
void require_none(Context& c, const hlo::Value& is_bad, const std::string& op, const std::string& what, bool is_single);

Dims batch_of(const Dims& dims);
/// `batch` and two more dimensions.
Dims matrices(Dims batch, int64_t rows, int64_t columns);
/// All batch dimensions made one, [count, m, n], and of vectors [count, n].
hlo::Value stacked(const hlo::Value& x);
hlo::Value stacked_vectors(const hlo::Value& x);
/// x of any batch repeated to have `batch`.
hlo::Value with_batch(const hlo::Value& x, const Dims& batch);

/// Rows and columns exchanged.
hlo::Value turned(const hlo::Value& x);
hlo::Value conjugate(const hlo::Value& x);
hlo::Value adjoint(const hlo::Value& x);

// Where an element is, S32 in x's dims, and whether that is in a triangle that has the diagonal.
hlo::Value row_of(const hlo::Value& x);
hlo::Value column_of(const hlo::Value& x);
hlo::Value in_triangle(const hlo::Value& x, bool lower);
/// The elements in the triangle, zeros elsewhere.
hlo::Value triangle(const hlo::Value& x, bool lower);
hlo::Value diagonal_of(const hlo::Value& x);
/// Ones on the diagonal, zeros elsewhere.
hlo::Value identity(hlo::Builder& builder, const Type& type);

/// Products of stacks of matrices, in full precision whatever the user's setting: errors of factors add up.
hlo::Value times(const hlo::Value& a, const hlo::Value& b);
/// A vector [count, n] in every row, or every column, of matrices `dims`.
hlo::Value in_rows(const hlo::Value& vector, const Dims& dims);
hlo::Value in_columns(const hlo::Value& vector, const Dims& dims);
/// A number per matrix, [count], in all of its elements (or those of a vector).
hlo::Value in_each(const hlo::Value& numbers, const Dims& dims);

/// Column k (0-d S32) of a stack, [count, m], and the rows whose numbers `index` [count, k] has.
hlo::Value column_at(const hlo::Value& x, const hlo::Value& k);
hlo::Value rows_at(const hlo::Value& x, const hlo::Value& index);
/// Element k of each vector [count, n], and vectors that have another one there.
hlo::Value element_at(const hlo::Value& x, const hlo::Value& k);
hlo::Value with_element(const hlo::Value& x, const hlo::Value& k, const hlo::Value& element);

/// Vectors with elements k and `other` [count] exchanged.
hlo::Value exchanged(const hlo::Value& x, const hlo::Value& k, const hlo::Value& other);
/// For each place of an order [count, n] where it is found in it.
hlo::Value inverse_order(const hlo::Value& order);
/// Where from place k on each vector [count, n] of sizes has the first of its largest; NaN is larger than all others.
hlo::Value largest_from(const hlo::Value& x, const hlo::Value& k);

/// What is carried after step(i, carried) for i = 0 .. `times` - 1 (0-d S32); like any body of a loop, `step` sees
/// nothing else.
using Step = std::function<hlo::Values(const hlo::Value& i, const hlo::Values& carried)>;
hlo::Values repeat(const hlo::Value& times, const hlo::Values& inits, const Step& step);
hlo::Values repeat(hlo::Builder& builder, int64_t times, const hlo::Values& inits, const Step& step);

/// op(a) x = b for a triangle of a; nothing where b has no elements.
hlo::Value solve_triangle(const hlo::Value& a, const hlo::Value& b, bool upper, bool unit, hlo::Transpose transpose,
                          bool left = true);

}  // namespace tpu::ops
