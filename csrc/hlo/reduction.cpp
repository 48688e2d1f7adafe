#include "hlo/attributes.h"
#include "hlo/constraint.h"
#include "hlo/ops.h"

namespace tpu::hlo {

namespace {

/// Inputs of equal dims, each with a 0-d init of its element type. Returns the types of the inits.
Types require_accumulators(std::string_view op, const Values& inputs, const Values& inits) {
  require(!inputs.empty() && inputs.size() == inits.size(), op, "expected as many inits as inputs, got ", inputs.size(),
          " and ", inits.size());
  Types types;
  for (size_t i = 0; i < inputs.size(); ++i) {
    require_value(op, inputs[i]);
    require(inputs[i].dims() == inputs[0].dims(), op, "expected inputs of equal dims, got ", show(inputs[0]), " and ",
            show(inputs[i]));
    require_scalar(op, "init", inits[i], inputs[i].element());
    types.push_back(inits[i].type);
  }
  return types;
}

Values join(const Values& a, const Values& b) {
  Values all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

/// A body over (accumulators.., elements..) that returns the accumulators.
std::string accumulate(std::string_view op, Builder& builder, const Types& types, const Region& body) {
  Types arguments = types;
  arguments.insert(arguments.end(), types.begin(), types.end());
  Values returned;
  std::string text = builder.region(arguments, body, Captures::Forbidden, &returned);
  require_types(op, "body", returned, types);
  return text;
}

/// The window with defaults filled in, one legal entry per dimension of x.
Window require_window(std::string_view op, const Value& x, const Window& given) {
  Window window = with_defaults(given, x.dims().size());
  for (const Dims* list : {&window.size, &window.strides, &window.base_dilation, &window.window_dilation}) {
    require_length(op, "window entries", *list, x.rank());
    for (int64_t item : *list) require(item > 0, op, "expected sizes, strides, dilations > 0, got ", show(*list));
  }
  require_length(op, "padding entries", window.low, x.rank());
  require_length(op, "padding entries", window.high, x.rank());
  return window;
}

}  // namespace

Region body_of(Reducer reducer) {
  return [reducer](const Values& arguments) -> Values {
    const Value& a = arguments[0];
    const Value& b = arguments[1];
    switch (reducer) {
      case Reducer::Add: return {add(a, b)};
      case Reducer::Mul: return {multiply(a, b)};
      case Reducer::Max: return {maximum(a, b)};
      case Reducer::Min: return {minimum(a, b)};
      case Reducer::And: return {and_(a, b)};
      case Reducer::Or: return {or_(a, b)};
    }
    return {};
  };
}

Value identity_of(Builder& builder, ElementType element, Reducer reducer) {
  switch (reducer) {
    case Reducer::Add:
    case Reducer::Or: return constant(builder, element, 0);
    case Reducer::Mul: return constant(builder, element, 1);
    case Reducer::Max: return min_value(builder, element);
    case Reducer::Min: return max_value(builder, element);
    case Reducer::And: return constant(builder, element, -1);
  }
  fail(ErrorCode::Internal, "hlo: unknown reducer");
}

Window with_defaults(const Window& window, size_t rank) {
  auto filled = [rank](const Dims& list, int64_t value) { return list.empty() ? Dims(rank, value) : list; };
  return {window.size,
          filled(window.strides, 1),
          filled(window.base_dilation, 1),
          filled(window.window_dilation, 1),
          filled(window.low, 0),
          filled(window.high, 0)};
}

// Specification of reduce_window: dilate the base, pad it, and count the starts at which the dilated window fits.
Dims window_output(const Dims& dims, const Window& given) {
  Window window = with_defaults(given, dims.size());
  Dims output;
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t base = dims[i] == 0 ? 0 : (dims[i] - 1) * window.base_dilation[i] + 1;
    int64_t padded = window.low[i] + base + window.high[i];
    int64_t reach = window.size[i] == 0 ? 0 : (window.size[i] - 1) * window.window_dilation[i] + 1;
    output.push_back(padded <= 0 || reach > padded ? 0 : (padded - reach) / window.strides[i] + 1);
  }
  return output;
}

Values reduce(const Values& inputs, const Values& inits, const Dims& dims, const Region& body) {
  constexpr std::string_view op = "stablehlo.reduce";
  Types types = require_accumulators(op, inputs, inits);
  const Value& x = inputs[0];
  require_distinct_dims(op, "dimensions", dims, x.rank());
  Dims kept;
  for (int64_t i = 0; i < x.rank(); ++i)
    if (!contains(dims, i)) kept.push_back(x.dims()[i]);
  Types results;
  for (const Value& input : inputs) results.push_back({input.element(), kept});
  std::string region = accumulate(op, *x.builder, types, body);
  return x.builder->generic(op, join(inputs, inits), results, Attributes().list("dimensions", dims).text(),
                            std::span(&region, 1));
}

Value reduce(const Value& x, const Value& init, const Dims& dims, Reducer reducer) {
  return reduce(Values{x}, Values{init}, dims, body_of(reducer))[0];
}
Value reduce(const Value& x, const Dims& dims, Reducer reducer) {
  require_value("stablehlo.reduce", x);
  return reduce(x, identity_of(*x.builder, x.element(), reducer), dims, reducer);
}

Values reduce_window(const Values& inputs, const Values& inits, const Window& given, const Region& body) {
  constexpr std::string_view op = "stablehlo.reduce_window";
  Types types = require_accumulators(op, inputs, inits);
  const Value& x = inputs[0];
  Window window = require_window(op, x, given);
  Dims output = window_output(x.dims(), window);
  Types results;
  for (const Value& input : inputs) results.push_back({input.element(), output});
  std::string region = accumulate(op, *x.builder, types, body);
  Attributes attributes;
  attributes.list("base_dilations", window.base_dilation)
      .padding(window.low, window.high)
      .list("window_dilations", window.window_dilation)
      .list("window_dimensions", window.size)
      .list("window_strides", window.strides);
  return x.builder->generic(op, join(inputs, inits), results, attributes.text(), std::span(&region, 1));
}

Value reduce_window(const Value& x, const Value& init, const Window& window, Reducer reducer) {
  return reduce_window(Values{x}, Values{init}, window, body_of(reducer))[0];
}

Value select_and_scatter(const Value& x, const Value& source, const Value& init, const Window& given,
                         const Region& select, const Region& scatter) {
  constexpr std::string_view op = "stablehlo.select_and_scatter";
  require_value(op, x);
  require_value(op, source);
  require_scalar(op, "init", init, x.element());
  require(given.base_dilation.empty() && given.window_dilation.empty(), op, "expected no dilation");
  Window window = require_window(op, x, given);
  Type expected{x.element(), window_output(x.dims(), window)};
  require(source.type == expected, op, "expected a source of ", show(expected), ", got ", show(source));
  Type scalar = scalar_of(x);
  Type pred{ElementType::Pred, {}};
  Type arguments[] = {scalar, scalar};
  Values chosen, scattered;
  std::string regions[2];
  regions[0] = x.builder->region(arguments, select, Captures::Forbidden, &chosen);
  require_types(op, "select", chosen, std::span(&pred, 1));
  regions[1] = x.builder->region(arguments, scatter, Captures::Forbidden, &scattered);
  require_types(op, "scatter", scattered, std::span(&scalar, 1));
  Attributes attributes;
  attributes.padding(window.low, window.high)
      .list("window_dimensions", window.size)
      .list("window_strides", window.strides);
  Values operands{x, source, init};
  return x.builder->generic(op, operands, x.type, attributes.text(), regions);
}

Values sort(const Values& inputs, int64_t dim, bool stable, const Region& comparator) {
  constexpr std::string_view op = "stablehlo.sort";
  require(!inputs.empty(), op, "expected at least one operand");
  const Value& x = inputs[0];
  Types arguments, results;
  for (const Value& input : inputs) {
    require_value(op, input);
    require(input.dims() == x.dims(), op, "expected inputs of equal dims, got ", show(x), " and ", show(input));
    arguments.insert(arguments.end(), 2, scalar_of(input));
    results.push_back(input.type);
  }
  require_dim(op, "dimension", dim, x.rank());
  Values returned;
  Type pred{ElementType::Pred, {}};
  std::string region = x.builder->region(arguments, comparator, Captures::Forbidden, &returned);
  require_types(op, "comparator", returned, std::span(&pred, 1));
  return x.builder->generic(op, inputs, results, Attributes().number("dimension", dim).flag("is_stable", stable).text(),
                            std::span(&region, 1));
}

}  // namespace tpu::hlo
