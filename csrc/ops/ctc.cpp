// Family ctc: connectionist temporal classification. What goes in: log probabilities [time, batch, class], targets
// [batch, length] padded on the right, and per sample how much of both counts; out comes the negative log likelihood
// of each sample, summed over all alignments, and the table of the forward recursion for the gradient.
//
// Graves, Fernandez, Gomez, Schmidhuber: Connectionist temporal classification, 2006. A target of n labels is read as
// the 2n + 1 states blank, label, blank, .., label, blank; `alpha` is the log probability of all ways to a state
// (equation 6), `beta` that of all ways from it to the end (equation 10), both with the state's own emission.
#include <cmath>

#include "ops/access.h"
#include "ops/elementwise.h"

namespace tpu::ops {

namespace {

using hlo::Value;
using hlo::Values;

// ------------------------------------------------------------------------------------------------ the shared moves

/// One call: sizes, and what the states of each sample are.
struct Alignment {
  int64_t time, batch, classes, states;
  Value log_probs;       // [time, batch, class]
  Value emissions;       // [time, batch, state]: of the state's class
  Value labels;          // [batch, state], S32: its class
  Value is_state;        // [batch, state]: the sample's target has so many
  Value may_skip;        // [batch, state]: the way may come from two states before, over a blank between two labels
  Value last_time;       // [batch, state], S32: the last step that counts
  Value last_state;      // [batch, state], S32: the number of the last blank
  Value input_lengths;   // [batch], S32
  Value target_lengths;  // [batch], S32
};

Value minus_infinity(const Value& x) { return hlo::like(x, -INFINITY); }

Value along_states(const Value& x, const Alignment& a) { return hlo::broadcast_in_dim(x, {a.batch, a.states}, {0}); }

Value state_numbers(hlo::Builder& builder, const Alignment& a) {
  return hlo::iota(builder, {ElementType::S32, {a.batch, a.states}}, 1);
}

/// x[.., state - by] where there is such a state, else `fill`; `by` may be negative.
Value shifted(const Value& x, int64_t by, const Value& fill) { return hlo::pad(x, fill, {0, by}, {0, -by}, {0, 0}); }

/// Blanks between, before and behind the labels; states that the sample does not have are blanks too, whatever lies in
/// the padding.
Value labels_of(Context& c, const Alignment& a, const Value& targets) {
  hlo::Builder& builder = c.builder();
  Value blank = hlo::constant(builder, ElementType::S32, c.integer("blank"));
  if (targets.dims()[1] == 0) return hlo::broadcast(blank, {a.batch, 1});
  Value spread = hlo::pad(hlo::convert(targets, ElementType::S32), blank, {0, 1}, {0, 1}, {0, 1});
  Value in_range = hlo::and_(hlo::ge(spread, hlo::like(spread, 0)), hlo::lt(spread, hlo::like(spread, a.classes)));
  return hlo::select(hlo::and_(a.is_state, in_range), spread, hlo::broadcast(blank, spread.dims()));
}

/// The targets as [batch, length]. Concatenated ones may be as long as all of them together.
Value padded_targets(Context& c, const Value& target_lengths) {
  Value targets = c.tensor("targets");
  if (targets.rank() == 2) return targets;
  int64_t batch = target_lengths.dims()[0], length = targets.dims()[0];
  Type table{ElementType::S32, {batch, length}};
  Value row = hlo::iota(c.builder(), {ElementType::S32, {batch, batch}}, 0);
  Value before = hlo::lt(hlo::iota(c.builder(), row.type, 1), row);
  Value lengths = hlo::broadcast_in_dim(target_lengths, row.dims(), {1});
  Value first = hlo::reduce(hlo::select(before, lengths, hlo::like(lengths, 0)), {1}, hlo::Reducer::Add);
  Value at = hlo::broadcast_in_dim(first, table.dims, {0}) + hlo::iota(c.builder(), table, 1);
  return length == 0 ? hlo::constant(c.builder(), {targets.element(), table.dims}, 0)
                     : read(targets, along(targets, 0, hlo::minimum(at, hlo::like(at, length - 1))));
}

Alignment alignment_of(Context& c) {
  Alignment a;
  a.log_probs = c.tensor("log_probs");
  ElementType type = a.log_probs.element();
  c.expect(type == ElementType::F32 || type == ElementType::F64, ErrorCode::NotImplemented,
           "\"ctc_loss\" not implemented for '", scalar_type_name(type), "'");
  c.expect(a.log_probs.rank() == 3, ErrorCode::InvalidArgument, "ctc_loss: log_probs must have 3 dimensions, got ",
           to_string(a.log_probs.dims()));
  a.time = a.log_probs.dims()[0], a.batch = a.log_probs.dims()[1], a.classes = a.log_probs.dims()[2];
  int64_t blank = c.integer("blank");
  c.expect(blank >= 0 && blank < a.classes, ErrorCode::InvalidArgument, "blank must be in label range");
  Dims lengths{a.batch};
  c.expect(c.type("input_lengths").dims == lengths, ErrorCode::InvalidArgument,
           "input_lengths must be of size batch_size");
  c.expect(c.type("target_lengths").dims == lengths, ErrorCode::InvalidArgument,
           "target_lengths must be of size batch_size");
  a.input_lengths = c.tensor("input_lengths", ElementType::S32);
  a.target_lengths = c.tensor("target_lengths", ElementType::S32);

  Value targets = padded_targets(c, a.target_lengths);
  a.states = 2 * targets.dims()[1] + 1;
  Value one = hlo::like(a.input_lengths, 1);
  a.last_time = along_states(a.input_lengths - one, a);
  a.last_state = along_states(a.target_lengths + a.target_lengths, a);
  Value state = state_numbers(c.builder(), a);
  a.is_state = hlo::le(state, a.last_state);
  a.labels = labels_of(c, a, targets);
  Value two_before = shifted(a.labels, 2, hlo::scalar_like(a.labels, blank));
  Value is_label = hlo::ne(hlo::and_(state, hlo::like(state, 1)), hlo::like(state, 0));
  a.may_skip = hlo::and_(is_label, hlo::ne(a.labels, two_before));
  a.may_skip = hlo::and_(a.may_skip, hlo::gt(state, hlo::like(state, 1)));

  Type index{ElementType::S32, {a.time, a.batch, a.states}};
  Value label = hlo::broadcast_in_dim(a.labels, index.dims, {1, 2});
  a.emissions = read(a.log_probs, elementwise(a.log_probs, 2, label));
  return a;
}

/// log(exp(x) + exp(y) + exp(z)); minus infinity of nothing but minus infinities.
Value log_sum(const Value& x, const Value& y, const Value& z) {
  Value most = hlo::maximum(hlo::maximum(x, y), z);
  most = hlo::select(hlo::eq(most, minus_infinity(most)), hlo::like(most, 0), most);
  Value sum = hlo::exponential(x - most) + hlo::exponential(y - most) + hlo::exponential(z - most);
  return hlo::log(sum) + most;
}

/// Row t of [time, batch, state] as [batch, state], and the table with another row there.
Value row_at(const Value& table, const Value& t) {
  Value zero = hlo::like(t, 0);
  Dims dims = table.dims();
  return hlo::reshape(hlo::dynamic_slice(table, {t, zero, zero}, {1, dims[1], dims[2]}), {dims[1], dims[2]});
}
Value with_row(const Value& table, const Value& t, const Value& row) {
  Value zero = hlo::like(t, 0);
  return hlo::dynamic_update_slice(table, hlo::reshape(row, {1, row.dims()[0], row.dims()[1]}), {t, zero, zero});
}

// ------------------------------------------------------------------------------------------------ the forward pass

/// alpha [time, batch, state].
Value forward_table(const Alignment& a) {
  hlo::Builder& builder = *a.log_probs.builder;
  Value state = state_numbers(builder, a);
  Value t0 = hlo::constant(builder, ElementType::S32, 0);
  Value first = row_at(a.emissions, t0), nothing = minus_infinity(first);
  Value is_start = hlo::and_(hlo::le(state, hlo::like(state, 1)), a.is_state);
  first = hlo::select(is_start, first, nothing);
  Value table = with_row(minus_infinity(a.emissions), t0, first);
  auto goes_on = [&](const Values& v) -> Values { return {hlo::lt(v[0], hlo::like(v[0], a.time))}; };
  auto step = [&](const Values& v) -> Values {
    auto [t, before, table, emissions, may_skip, is_state] = std::tie(v[0], v[1], v[2], v[3], v[4], v[5]);
    Value none = hlo::scalar_like(before, -INFINITY);
    Value skipped = hlo::select(may_skip, shifted(before, 2, none), minus_infinity(before));
    Value row = log_sum(before, shifted(before, 1, none), skipped) + row_at(emissions, t);
    row = hlo::select(is_state, row, minus_infinity(row));
    return {t + hlo::like(t, 1), row, with_row(table, t, row), emissions, may_skip, is_state};
  };
  return hlo::while_({hlo::like(t0, 1), first, table, a.emissions, a.may_skip, a.is_state}, goes_on, step)[2];
}

/// The likelihood of ending in the last label or the blank behind it at the last step that counts.
Value negative_log_likelihood(const Alignment& a, const Value& table) {
  Value state = state_numbers(*table.builder, a);
  Value behind = hlo::ge(state, a.last_state - hlo::like(state, 1));
  Value is_end = hlo::and_(behind, a.is_state);
  Value zero = hlo::like(a.input_lengths, 0);
  Value last = hlo::maximum(a.input_lengths - hlo::like(zero, 1), zero);
  Type index{ElementType::S32, {a.batch, a.states}};
  Access access{table.dims(), {along_states(last, a), hlo::iota(*table.builder, index, 0), state}, index.dims, 0};
  Value ends =
      hlo::select(is_end, read(table, access), hlo::constant(*table.builder, {table.element(), index.dims}, -INFINITY));
  Value most = hlo::reduce(ends, {1}, hlo::Reducer::Max);
  most = hlo::select(hlo::eq(most, minus_infinity(most)), hlo::like(most, 0), most);
  Value sum = hlo::reduce(hlo::exponential(ends - along_states(most, a)), {1}, hlo::Reducer::Add);
  Value nll = hlo::negate(hlo::log(sum) + most);
  // Without a single step only the empty target is possible.
  Value impossible = hlo::select(hlo::eq(a.target_lengths, zero), hlo::like(nll, 0), hlo::like(nll, INFINITY));
  return hlo::select(hlo::eq(a.input_lengths, zero), impossible, nll);
}

Values ctc_loss(Context& c) {
  Alignment a = alignment_of(c);
  Value table = a.time == 0 ? a.emissions : forward_table(a);
  Value nll = a.time == 0 || a.batch == 0
                  ? hlo::select(hlo::eq(a.target_lengths, hlo::like(a.target_lengths, 0)),
                                hlo::constant(c.builder(), {table.element(), {a.batch}}, 0),
                                hlo::constant(c.builder(), {table.element(), {a.batch}}, INFINITY))
                  : negative_log_likelihood(a, table);
  return {nll, hlo::transpose(table, {1, 0, 2})};
}

// ----------------------------------------------------------------------------------------------------- the gradient

/// How probable it is that the alignment is in a state at a step, [time, batch, state]: exp(alpha + beta + nll), once
/// without the emission that both have.
Value posterior(const Alignment& a, const Value& alpha, const Value& nll) {
  hlo::Builder& builder = *alpha.builder;
  Value state = state_numbers(builder, a);
  Value is_end = hlo::and_(hlo::ge(state, a.last_state - hlo::like(state, 1)), a.is_state);
  Value t0 = hlo::constant(builder, ElementType::S32, a.time - 1);
  Value nothing = hlo::constant(builder, {alpha.element(), {a.batch, a.states}}, -INFINITY);
  // From a state two ahead: whether that one may be come to by a skip.
  Value skip_ahead = shifted(a.may_skip, -2, hlo::constant(builder, ElementType::Pred, 0));
  auto goes_on = [](const Values& v) -> Values { return {hlo::ge(v[0], hlo::like(v[0], 0))}; };
  auto step = [](const Values& v) -> Values {
    const Value &t = v[0], &after = v[1], &table = v[2], &emissions = v[3], &alpha = v[4], &nll = v[5], &skip = v[6],
                &is_end = v[7], &last = v[8], &is_state = v[9];
    Value none = hlo::scalar_like(after, -INFINITY);
    Value skipped = hlo::select(skip, shifted(after, -2, none), minus_infinity(after));
    Value emitted = row_at(emissions, t);
    Value going = log_sum(after, shifted(after, -1, none), skipped);
    Value now = hlo::broadcast(t, last.dims());
    Value start = hlo::select(is_end, hlo::like(going, 0), minus_infinity(going));
    going = hlo::select(hlo::eq(now, last), start, going);
    Value row = hlo::exponential(row_at(alpha, t) + going + nll);
    row = hlo::select(hlo::and_(is_state, hlo::le(now, last)), row, hlo::like(row, 0));
    return {t - hlo::like(t, 1),
            going + emitted,
            with_row(table, t, row),
            emissions,
            alpha,
            nll,
            skip,
            is_end,
            last,
            is_state};
  };
  return hlo::while_({t0, nothing, hlo::like(alpha, 0), a.emissions, alpha, along_states(nll, a), skip_ahead, is_end,
                      a.last_time, a.is_state},
                     goes_on, step)[2];
}

// d nll / d log_probs, where these are normalised: exp(log_probs) less how probable the class is given the target.
Values ctc_loss_backward(Context& c) {
  Alignment a = alignment_of(c);
  ElementType type = a.log_probs.element();
  if (a.log_probs.type.count() == 0) return {a.log_probs};
  Value nll = c.tensor("neg_log_likelihood", type), grad = c.tensor("grad", type);
  Value alpha = hlo::transpose(c.tensor("log_alpha"), {1, 0, 2});
  c.expect(alpha.dims() == a.emissions.dims(), ErrorCode::InvalidArgument,
           "ctc_loss: log_alpha does not belong to these targets, got ", to_string(alpha.dims()), ", expected ",
           to_string(a.emissions.dims()));
  Type index{ElementType::S32, a.emissions.dims()};
  Value label = hlo::broadcast_in_dim(a.labels, index.dims, {1, 2});
  Value expected = add_at(hlo::like(a.log_probs, 0), elementwise(a.log_probs, 2, label), posterior(a, alpha, nll));
  auto spread = [&](const Value& x) { return hlo::broadcast_in_dim(x, a.log_probs.dims(), {1}); };
  Value result = (hlo::exponential(a.log_probs) - expected) * spread(grad);
  // No alignment fits: the loss is infinite, and its gradient not a number.
  Value fails = hlo::eq(nll, hlo::like(nll, INFINITY));
  double instead = c.flag("zero_infinity") ? 0 : NAN;
  result = hlo::select(spread(fails), hlo::like(result, instead), result);
  Value counts = hlo::lt(hlo::iota(c.builder(), {ElementType::S32, a.log_probs.dims()}, 0), spread(a.input_lengths));
  return {hlo::select(counts, result, hlo::like(result, 0))};
}

}  // namespace

Table ctc_table() {
  return {
      row("_ctc_loss.Tensor", ctc_loss),
      row("_ctc_loss_backward.Tensor", ctc_loss_backward),
  };
}

}  // namespace tpu::ops
