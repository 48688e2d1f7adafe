// Note [Short way]. For a structured op torch runs the meta function (a TensorIterator), allocates the output, boxes
// the call and then reaches our `.out` kernel; a boxed kernel holds every tensor twice, and the second holder of a
// tensor that Python knows takes the GIL. That is twice the price of recording an op, all of it to find out what is
// known: a call with this key was checked and compiled before. So the overloads with few arguments have kernels with
// C++ types, which walk the arguments where they are, look for the plan of the key, and run it. Three forms:
//
//   Own         the row's own overload: without a plan, the boxed kernel is called;
//   Functional  of a structured `.out` row, its functional overload: the result is a new tensor, in a plan of its own;
//               torch's checks are made once before that plan, by its own kernel with ours standing still (the Meta
//               kernels would do as well, but some are Python's and import half of torch);
//   InPlace     of a structured `.out` row, its in-place overload: without a plan torch's way is taken, which comes to
//               the `.out` kernel with the same key.
//
// The last two are for tensors of one floating dtype, where no dtype and (of pointwise ops) no layout is left to find;
// all other calls go torch's way, with its promotion and errors.
#include "aten/short_way.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "aten/kernel.h"
#include "aten/tensor.h"
#include "device/errors.h"

namespace tpu::aten {

namespace {

using Tensor = const at::Tensor&;
using Scalar = const at::Scalar&;

// Where PyTorch keeps the kernels that it derives from a structured `.out` kernel.
constexpr auto kDerived = c10::DispatchKey::CompositeExplicitAutogradNonFunctional;

enum class Form : uint8_t { Own, Functional, InPlace };

std::string name_of(const c10::OperatorHandle& op) {
  std::string base = op.schema().name().substr(std::string_view("aten::").size());
  return op.schema().overload_name().empty() ? base : concat(base, ".", op.schema().overload_name());
}

std::map<std::string, std::string, std::less<>>& rows_behind() {
  static auto* rows = new std::map<std::string, std::string, std::less<>>;
  return *rows;
}

void walk(Recording& recording, const Slot& slot, Tensor value) { recording.tensor(slot, value); }
void walk(Recording& recording, const Slot& slot, Scalar value) { recording.number(slot, value); }

template <class... Args>
c10::Stack stack_of(const Args&... args) {
  c10::Stack stack;
  stack.reserve(sizeof...(args));
  (stack.emplace_back(args), ...);
  return stack;
}

/// Whether the arguments of a derived overload, taken one after the other, leave nothing to find out.
class Plain {
 public:
  explicit Plain(bool is_pointwise) : is_pointwise_(is_pointwise) {}

  bool take(Tensor tensor) {
    if (!is_tpu(tensor)) {
      // A Python number takes the tensors' dtype, unless it is complex. A 0-d tensor beside it is promoted by torch.
      return is_pointwise_ && first_ != nullptr && first_->dim() > 0 &&
             tensor.unsafeGetTensorImpl()->is_wrapped_number() && !tensor.is_complex();
    }
    if (is_pointwise_ && !tensor.is_contiguous()) return false;
    if (first_ == nullptr) {
      first_ = &tensor;
      return at::isFloatingType(tensor.scalar_type()) && !tensor.unsafeGetTensorImpl()->is_wrapped_number();
    }
    // Between 0-d tensors and others there are rules of promotion.
    return tensor.scalar_type() == first_->scalar_type() && tensor.device() == first_->device() &&
           (tensor.dim() == 0) == (first_->dim() == 0);
  }
  bool take(Scalar scalar) { return !scalar.isComplex(); }

 private:
  const bool is_pointwise_;
  const at::Tensor* first_ = nullptr;
};

// Whether torch has nothing to say about the memory of an in-place call: every operand is as large as `self`, and lies
// in other memory or in exactly the same.
bool is_apart(Tensor self, Tensor other) {
  if (!is_tpu(other)) return true;
  bool is_alias = other.storage().is_alias_of(self.storage());
  return other.sizes() == self.sizes() && (!is_alias || other.storage_offset() == self.storage_offset());
}
template <class T>
bool is_apart(Tensor, const T&) {
  return true;
}

/// What the copies of one typed kernel share.
struct Way {
  /// `called`: the overload whose arguments the row's lowering reads.
  Way(Form form, const ops::Row& row, const c10::OperatorHandle& op, const c10::OperatorHandle& called)
      : form(form),
        row(form == Form::Functional ? ops::functional_form(row) : row),
        op(op),
        called(called),
        kernel(this->row) {}

  /// Without a plan, or where there is something to find out.
  void torchs(c10::Stack& stack) {
    if (form == Form::Own)
      kernel(op, {}, &stack);
    else
      op.callBoxedForDispatchKey(kDerived, stack);
  }

  const Form form;
  const ops::Row row;
  const c10::OperatorHandle op, called;
  Kernel kernel;
};

/// Runs a call whose plan is known; `args` are all that its overload reads, an `out=` included. False: it has to be
/// made in full.
template <class... Args>
bool run_known(Way& way, at::Tensor& fresh, const at::Tensor* target, const Args&... args) {
  return device::translated([&] {
    way.kernel.prepare();
    const Signature& signature = way.kernel.signature(way.called);
    Recording recording(way.row, signature, nullptr);
    size_t slot = 0;
    (walk(recording, signature.slots[slot++], args), ...);
    recording.result(target);
    return way.kernel.run_known(recording, fresh);
  });
}

template <class... Args>
class Fresh {
 public:
  explicit Fresh(std::shared_ptr<Way> way) : way_(std::move(way)) {}

  at::Tensor operator()(Args... args) const {
    Way& way = *way_;
    at::Tensor result;
    Plain plain(way.row.is_pointwise);
    if (way.form == Form::Own || (plain.take(args) && ...)) {
      if (run_known(way, result, nullptr, args...)) return result;
      if (way.form == Form::Functional) return checked(args...);
    }
    c10::Stack stack = stack_of(args...);
    way.torchs(stack);
    return std::move(stack[0]).toTensor();
  }

 private:
  // The first call of its kind.
  at::Tensor checked(Args... args) const {
    c10::Stack checked = stack_of(args...);
    {
      StandStill nothing_runs;
      at::DisableRecordFunctionGuard nobody_hears;
      way_->op.callBoxedForDispatchKey(kDerived, checked);
    }
    c10::Stack stack = stack_of(args...);
    way_->kernel(way_->op, {}, &stack);
    at::Tensor result = std::move(stack[0]).toTensor();
    Tensor expected = checked[0].toTensor();
    TORCH_INTERNAL_ASSERT(result.scalar_type() == expected.scalar_type() && result.sizes() == expected.sizes(),
                          name_of(way_->op), ": expected ", expected.toString(), expected.sizes(), ", got ",
                          result.toString(), result.sizes());
    return result;
  }

  std::shared_ptr<Way> way_;
};

template <class... Args>
class InPlace {
 public:
  explicit InPlace(std::shared_ptr<Way> way) : way_(std::move(way)) {}

  at::Tensor& operator()(at::Tensor& self, Args... args) const {
    Way& way = *way_;
    Plain plain(/*is_pointwise=*/true);
    at::Tensor none;
    bool is_short = plain.take(self) && (plain.take(args) && ...) && (is_apart(self, args) && ...);
    if (is_short && run_known(way, none, &self, self, args..., self)) return self;
    c10::Stack stack = stack_of(self, args...);
    way.torchs(stack);
    return self;
  }

 private:
  std::shared_ptr<Way> way_;
};

using Make = torch::CppFunction (*)(std::shared_ptr<Way>);

/// The kernels for arguments of these kinds, `self` before `Args`; T: tensor, S: number.
struct Typed {
  const char* kinds;
  Make fresh, in_place;
};

template <class... Args>
constexpr Typed typed(const char* kinds) {
  return {kinds, [](std::shared_ptr<Way> way) { return torch::CppFunction(Fresh<Tensor, Args...>(std::move(way))); },
          [](std::shared_ptr<Way> way) { return torch::CppFunction(InPlace<Args...>(std::move(way))); }};
}

constexpr Typed kTyped[] = {
    typed<>("T"),
    typed<Tensor>("TT"),
    typed<Scalar>("TS"),
    typed<Tensor, Tensor>("TTT"),
    typed<Tensor, Scalar>("TTS"),
    typed<Scalar, Scalar>("TSS"),
    typed<Tensor, Tensor, Scalar>("TTTS"),
    typed<Tensor, Tensor, Scalar, Scalar>("TTTSS"),
};

// The kinds of what goes in, `out=` not counted; empty for an op with another kind, or with more than one result.
std::string kinds_of(const c10::FunctionSchema& schema) {
  if (schema.returns().size() != 1 || schema.returns()[0].type()->kind() != c10::TypeKind::TensorType) return {};
  std::string kinds;
  for (const c10::Argument& argument : schema.arguments()) {
    if (argument.is_out()) continue;
    switch (argument.real_type()->kind()) {
      case c10::TypeKind::TensorType: kinds += 'T'; break;
      case c10::TypeKind::NumberType: kinds += 'S'; break;
      default: return {};
    }
  }
  return kinds;
}

const Typed* typed_for(const c10::FunctionSchema& schema) {
  std::string kinds = kinds_of(schema);
  for (const Typed& typed : kTyped)
    if (kinds == typed.kinds) return &typed;
  return nullptr;
}

std::optional<c10::OperatorHandle> find(const std::string& base, const std::string& overload) {
  return c10::Dispatcher::singleton().findSchema({concat("aten::", base), overload});
}

bool writes(const c10::FunctionSchema& schema) {
  return std::any_of(schema.arguments().begin(), schema.arguments().end(),
                     [](const c10::Argument& argument) { return argument.alias_info() != nullptr; });
}

// The overload that PyTorch derives from `out`, with the same arguments.
std::optional<c10::OperatorHandle> derived(const std::string& base, std::string overload,
                                           const c10::OperatorHandle& out) {
  if (overload.ends_with("out")) overload.resize(overload.size() - (overload.ends_with("_out") ? 4 : 3));
  if (overload == "grad_input") overload.clear();
  for (const std::string& name : {overload, std::string("Tensor")}) {
    std::optional<c10::OperatorHandle> op = find(base, name);
    if (op && op->hasKernelForDispatchKey(kDerived) && !op->hasKernelForDispatchKey(c10::DispatchKey::PrivateUse1) &&
        kinds_of(op->schema()) == kinds_of(out.schema()))
      return op;
    if (!overload.empty()) break;
  }
  return std::nullopt;
}

}  // namespace

bool add_short_ways(torch::Library& library, const ops::Row& row) {
  if (row.is_random || row.is_slow_on_cpu || row.reads_layout || !row.writes.empty()) return false;
  std::string name = row.name, base = name.substr(0, name.find('.')), overload;
  if (base.size() < name.size()) overload = name.substr(base.size() + 1);
  std::optional<c10::OperatorHandle> own = find(base, overload);
  const Typed* typed = own ? typed_for(own->schema()) : nullptr;
  if (typed == nullptr) return false;
  if (!writes(own->schema())) {
    library.impl(row.name, typed->fresh(std::make_shared<Way>(Form::Own, row, *own, *own)));
    return true;
  }
  auto add = [&](Form form, Make make, const std::string& base_name) {
    std::optional<c10::OperatorHandle> op = derived(base_name, overload, *own);
    if (!op) return;
    std::string op_name = name_of(*op);
    rows_behind().emplace(op_name, row.name);
    library.impl(op_name.c_str(), make(std::make_shared<Way>(form, row, *op, form == Form::InPlace ? *own : *op)));
  };
  bool is_out = std::any_of(own->schema().arguments().begin(), own->schema().arguments().end(),
                            [](const c10::Argument& argument) { return argument.is_out(); });
  if (is_out && (row.is_pointwise || row.contracts)) add(Form::Functional, typed->fresh, base);
  if (is_out && row.is_pointwise) add(Form::InPlace, typed->in_place, base + "_");
  return false;
}

std::string_view row_behind(const std::string& overload) {
  auto found = rows_behind().find(overload);
  return found == rows_behind().end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace tpu::aten
