#include "hlo/attributes.h"
#include "hlo/constraint.h"
#include "hlo/ops.h"

namespace tpu::hlo {

namespace {

const char* precision_pair(Precision precision) {
  switch (precision) {
    case Precision::Default: return "[#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]";
    case Precision::High: return "[#stablehlo<precision HIGH>, #stablehlo<precision HIGH>]";
    case Precision::Highest: return "[#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]";
  }
  fail(ErrorCode::Internal, "hlo: unknown precision");
}

/// The role of each dimension in its order, as `b, f, 0, 1`; also checks that every dimension has one role.
std::string roles(std::string_view op, int64_t rank, int64_t first, char first_name, int64_t second, char second_name,
                  const Dims& spatial) {
  require(static_cast<int64_t>(spatial.size()) + 2 == rank, op, "expected ", rank - 2, " spatial dimensions, got ",
          show(spatial));
  Dims all = spatial;
  all.push_back(first);
  all.push_back(second);
  require_distinct_dims(op, "dimension numbers", all, rank);
  std::vector<std::string> names(rank);
  names[first] = first_name;
  names[second] = second_name;
  for (size_t i = 0; i < spatial.size(); ++i) names[spatial[i]] = std::to_string(i);
  std::string text;
  for (int64_t i = 0; i < rank; ++i) text += (i == 0 ? "" : ", ") + names[i];
  return text;
}

void require_square(std::string_view op, const Value& x) {
  require_kind(op, x, kInexact);
  require(x.rank() >= 2 && x.dims()[x.rank() - 1] == x.dims()[x.rank() - 2], op, "expected square matrices, got ",
          show(x));
}

}  // namespace

Value convolution(const Value& lhs, const Value& rhs, const ConvDims& dims, const Window& window,
                  int64_t feature_group_count, int64_t batch_group_count, Precision precision,
                  std::optional<ElementType> result) {
  constexpr std::string_view op = "stablehlo.convolution";
  require_kind(op, lhs, kAny);
  require_value(op, rhs);
  require(lhs.element() == rhs.element() && lhs.rank() == rhs.rank() && lhs.rank() >= 2, op,
          "expected operands of equal element type and rank >= 2, got ", show(lhs), " and ", show(rhs));
  int64_t rank = lhs.rank();
  std::string numbers =
      "#stablehlo.conv<[" + roles(op, rank, dims.input_batch, 'b', dims.input_feature, 'f', dims.input_spatial) +
      "]x[" + roles(op, rank, dims.kernel_output_feature, 'o', dims.kernel_input_feature, 'i', dims.kernel_spatial) +
      "]->[" + roles(op, rank, dims.output_batch, 'b', dims.output_feature, 'f', dims.output_spatial) + "]>";
  int64_t batch = lhs.dims()[dims.input_batch];
  int64_t outputs = rhs.dims()[dims.kernel_output_feature];
  require(feature_group_count >= 1 && batch_group_count >= 1 && (feature_group_count == 1 || batch_group_count == 1),
          op, "expected group counts >= 1, one of them 1, got feature_group_count ", feature_group_count,
          " and batch_group_count ", batch_group_count);
  require(lhs.dims()[dims.input_feature] == rhs.dims()[dims.kernel_input_feature] * feature_group_count, op,
          "expected input features = kernel input features * ", feature_group_count, ", got ", show(lhs), " and ",
          show(rhs));
  require(outputs % feature_group_count == 0 && outputs % batch_group_count == 0 && batch % batch_group_count == 0, op,
          "group counts ", feature_group_count, " and ", batch_group_count, " do not divide ", show(lhs), " and ",
          show(rhs));

  size_t spatial = dims.input_spatial.size();
  Window kernel = with_defaults(window, spatial);
  kernel.size.clear();
  Dims base;
  for (size_t i = 0; i < spatial; ++i) {
    base.push_back(lhs.dims()[dims.input_spatial[i]]);
    kernel.size.push_back(rhs.dims()[dims.kernel_spatial[i]]);
  }
  for (const Dims* list : {&kernel.strides, &kernel.base_dilation, &kernel.window_dilation}) {
    require_length(op, "window entries", *list, static_cast<int64_t>(spatial));
    for (int64_t item : *list) require(item > 0, op, "expected strides and dilations > 0, got ", show(*list));
  }
  require_length(op, "padding entries", kernel.low, static_cast<int64_t>(spatial));
  require_length(op, "padding entries", kernel.high, static_cast<int64_t>(spatial));
  Dims output = window_output(base, kernel);
  Type type{result.value_or(lhs.element()), Dims(rank)};
  type.dims[dims.output_batch] = batch / batch_group_count;
  type.dims[dims.output_feature] = outputs;
  for (size_t i = 0; i < spatial; ++i) type.dims[dims.output_spatial[i]] = output[i];

  Attributes attributes;
  attributes.number("batch_group_count", batch_group_count)
      .raw("dimension_numbers", numbers)
      .number("feature_group_count", feature_group_count)
      .list("lhs_dilation", kernel.base_dilation)
      .padding(kernel.low, kernel.high)
      .raw("precision_config", precision_pair(precision))
      .list("rhs_dilation", kernel.window_dilation)
      .list("window_strides", kernel.strides);
  return lhs.builder->generic(op, {lhs, rhs}, type, attributes.text());
}

Value cholesky(const Value& x, bool lower) {
  constexpr std::string_view op = "stablehlo.cholesky";
  require_square(op, x);
  return x.builder->generic(op, {x}, x.type, Attributes().flag("lower", lower).text());
}

namespace {

// From the innermost dimension, as XLA has it.
std::string layouts(const Types& types, const std::vector<Dims>& orders) {
  std::string text = "[";
  for (size_t i = 0; i < types.size(); ++i) {
    auto rank = static_cast<size_t>(types[i].rank());
    if (i != 0) text += ", ";
    text += "dense<";
    if (rank > 0) text += "[";
    for (size_t k = rank; k-- > 0;) {
      text += std::to_string(orders[i].empty() ? static_cast<int64_t>(k) : orders[i][k]);
      if (k > 0) text += ", ";
    }
    if (rank > 0) text += "]";
    text += "> : tensor<" + std::to_string(rank) + "xindex>";
  }
  return text + "]";
}

}  // namespace

Values custom_call(Builder& builder, const std::string& target, const Values& operands, const Types& results,
                   const CustomCall& call) {
  constexpr std::string_view op = "stablehlo.custom_call";
  auto quoted = [](const std::string& text) {
    static constexpr char digits[] = "0123456789ABCDEF";
    std::string out = "\"";
    for (unsigned char c : text) {
      if (c >= 0x20 && c < 0x7F && c != '"' && c != '\\') {
        out += static_cast<char>(c);
      } else {
        out += {'\\', digits[c >> 4], digits[c & 15]};
      }
    }
    return out + "\"";
  };
  Attributes attributes;
  attributes.number("api_version", call.api_version, "i32");
  if (!call.backend_config.empty()) {
    attributes.raw("backend_config", call.api_version == 4 ? call.backend_config : quoted(call.backend_config));
  }
  attributes.raw("call_target_name", quoted(target)).flag("has_side_effect", call.has_side_effect);
  if (!call.aliases.empty()) {
    std::string pairs = "[";
    for (const auto& [operand, output] : call.aliases) {
      require(operand >= 0 && operand < static_cast<int>(operands.size()) && output >= 0 &&
                  output < static_cast<int>(results.size()) && operands[operand].type == results[output],
              op, "operand ", operand, " and output ", output, " cannot share memory");
      if (pairs.size() > 1) pairs += ", ";
      pairs += "#stablehlo.output_operand_alias<output_tuple_indices = [";
      if (results.size() > 1) pairs += std::to_string(output);  // a single result is no tuple
      pairs += "], operand_index = " + std::to_string(operand) + ", operand_tuple_indices = []>";
    }
    attributes.raw("output_operand_aliases", pairs + "]");
  }
  if (!call.operand_orders.empty() || !call.output_orders.empty()) {
    require(call.operand_orders.size() == operands.size() && call.output_orders.size() == results.size(), op,
            "expected an order for each of ", operands.size(), " operands and ", results.size(), " outputs");
    Types types;
    for (const Value& operand : operands) types.push_back(operand.type);
    attributes.raw("operand_layouts", layouts(types, call.operand_orders));
    attributes.raw("result_layouts", layouts(results, call.output_orders));
  }
  return builder.generic(op, operands, results, attributes.text());
}

Value dot_general(const Value& a, const Value& b, const DotDims& dims, Precision precision,
                  std::optional<ElementType> result) {
  constexpr std::string_view op = "stablehlo.dot_general";
  require_kind(op, a, kAny);
  require_value(op, b);
  require(a.element() == b.element(), op, "expected operands of equal element type, got ", show(a), " and ", show(b));
  require(dims.lhs_batch.size() == dims.rhs_batch.size() && dims.lhs_contract.size() == dims.rhs_contract.size(), op,
          "expected dimension numbers in pairs, got batch ", show(dims.lhs_batch), show(dims.rhs_batch), ", contract ",
          show(dims.lhs_contract), show(dims.rhs_contract));
  auto joined = [](const Dims& batch, const Dims& contract) {
    Dims all = batch;
    for (int64_t dim : contract) all.push_back(dim);
    return all;
  };
  Dims lhs_used = joined(dims.lhs_batch, dims.lhs_contract);
  Dims rhs_used = joined(dims.rhs_batch, dims.rhs_contract);
  require_distinct_dims(op, "dimension numbers of a", lhs_used, a.rank());
  require_distinct_dims(op, "dimension numbers of b", rhs_used, b.rank());
  for (size_t i = 0; i < lhs_used.size(); ++i) {
    require(a.dims()[lhs_used[i]] == b.dims()[rhs_used[i]], op, "dimension ", lhs_used[i], " of ", show(a),
            " and dimension ", rhs_used[i], " of ", show(b), " differ in size");
  }
  Type type{result.value_or(a.element()), {}};
  for (int64_t dim : dims.lhs_batch) type.dims.push_back(a.dims()[dim]);
  for (int64_t i = 0; i < a.rank(); ++i)
    if (!contains(lhs_used, i)) type.dims.push_back(a.dims()[i]);
  for (int64_t i = 0; i < b.rank(); ++i)
    if (!contains(rhs_used, i)) type.dims.push_back(b.dims()[i]);
  std::string numbers = "#stablehlo.dot<";
  if (!dims.lhs_batch.empty()) {
    numbers += "lhs_batching_dimensions = " + to_string(dims.lhs_batch) +
               ", rhs_batching_dimensions = " + to_string(dims.rhs_batch) + ", ";
  }
  numbers += "lhs_contracting_dimensions = " + to_string(dims.lhs_contract) +
             ", rhs_contracting_dimensions = " + to_string(dims.rhs_contract) + ">";
  Attributes attributes;
  attributes.raw("dot_dimension_numbers", numbers).raw("precision_config", precision_pair(precision));
  return a.builder->generic(op, {a, b}, type, attributes.text());
}

Value fft(const Value& x, FftKind kind, const Dims& lengths) {
  constexpr std::string_view op = "stablehlo.fft";
  static constexpr const char* names[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
  require_value(op, x);
  int64_t count = static_cast<int64_t>(lengths.size());
  require(count >= 1 && count <= 3 && count <= x.rank(), op, "expected 1 to 3 lengths within the rank of ", show(x),
          ", got ", show(lengths));
  bool real_input = kind == FftKind::Rfft;
  require(real_input ? x.element() == ElementType::F32 || x.element() == ElementType::F64 : is_complex(x.element()), op,
          "expected ", real_input ? "f32 or f64" : "a complex tensor", " for ", names[static_cast<int>(kind)], ", got ",
          show(x));
  for (int64_t i = 0; i < count; ++i) {
    bool halved = kind == FftKind::Irfft && i == count - 1;
    int64_t expected = halved ? lengths[i] / 2 + 1 : lengths[i];
    require(x.dims()[x.rank() - count + i] == expected, op, "expected lengths ", show(lengths), " to fit ", show(x),
            " for ", names[static_cast<int>(kind)]);
  }
  Type type = x.type;
  if (kind == FftKind::Rfft) {
    type.element = complex_of(x.element());
    type.dims.back() = lengths.back() / 2 + 1;
  } else if (kind == FftKind::Irfft) {
    type.element = real_of(x.element());
    type.dims.back() = lengths.back();
  }
  Attributes attributes;
  attributes.list("fft_length", lengths)
      .raw("fft_type", std::string("#stablehlo<fft_type ") + names[static_cast<int>(kind)] + ">");
  return x.builder->generic(op, {x}, type, attributes.text());
}

Values rng_bit_generator(const Value& state, const Type& out, RngAlgorithm algorithm) {
  constexpr std::string_view op = "stablehlo.rng_bit_generator";
  require_value(op, state);
  bool philox = algorithm == RngAlgorithm::Philox;
  require(state.element() == ElementType::U64 && state.rank() == 1 &&
              (state.dims()[0] == 2 || (philox && state.dims()[0] == 3)),
          op, "expected a state of tensor<2xui64>", philox ? " or tensor<3xui64>" : "", ", got ", show(state));
  require((kind_of(out.element) & kNumber) != 0, op, "expected an output of ", name_of(kNumber), ", got ", show(out));
  Type results[] = {state.type, out};
  return state.builder->generic(op, std::span(&state, 1), results,
                                philox ? "rng_algorithm = #stablehlo<rng_algorithm PHILOX>"
                                       : "rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>");
}

Value triangular_solve(const Value& a, const Value& b, bool left_side, bool lower, bool unit_diagonal,
                       Transpose transpose_a) {
  constexpr std::string_view op = "stablehlo.triangular_solve";
  static constexpr const char* names[] = {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
  require_square(op, a);
  require_value(op, b);
  Dims expected = a.dims();
  if (b.rank() == a.rank()) expected[a.rank() - (left_side ? 1 : 2)] = b.dims()[a.rank() - (left_side ? 1 : 2)];
  require(b.element() == a.element() && b.dims() == expected, op, "expected b to fit ", show(a), " on the ",
          left_side ? "left" : "right", ", got ", show(b));
  Attributes attributes;
  attributes.flag("left_side", left_side)
      .flag("lower", lower)
      .raw("transpose_a", std::string("#stablehlo<transpose ") + names[static_cast<int>(transpose_a)] + ">")
      .flag("unit_diagonal", unit_diagonal);
  return a.builder->generic(op, {a, b}, b.type, attributes.text());
}

}  // namespace tpu::hlo
