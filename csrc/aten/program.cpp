#include "aten/program.h"

#include <algorithm>

#include "aten/types.h"
#include "device/generator.h"
#include "engine/journal.h"
#include "engine/runtime.h"

namespace tpu::aten {

namespace {

// A graph whose inputs keep changing is traced again and again; the oldest programs go.
constexpr size_t kMostLayouts = 64;

/// A tensor over a storage of the program.
struct Lie {
  int storage = -1;  // -1: no tensor
  c10::ScalarType dtype = c10::ScalarType::Undefined;
  std::vector<int64_t> sizes, strides;
  int64_t offset = 0;
  bool conjugates = false, negates = false;
};

/// What a storage holds when the program has run.
struct Content {
  enum class Kind : uint8_t { Unset, Output, Input, Constant };
  Kind kind = Kind::Unset;
  size_t number = 0;          // of the plan's output, or of the input storage whose Value it was
  engine::ValueRef constant;  // a Value that the trace met or made
  size_t bytes = 0;
};

Lie lie_of(const at::Tensor& tensor, int storage) {
  return {storage,          tensor.scalar_type(), tensor.sizes().vec(), tensor.strides().vec(), tensor.storage_offset(),
          tensor.is_conj(), tensor.is_neg()};
}

at::Tensor tensor_over(at::Storage storage, const Lie& lie) {
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), c10::scalarTypeToTypeMeta(lie.dtype));
  tensor.unsafeGetTensorImpl()->set_storage_offset(lie.offset);
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(lie.sizes, lie.strides);
  tensor._set_conj(lie.conjugates);
  tensor._set_neg(lie.negates);
  return tensor;
}

at::Storage new_storage(engine::Device& device, size_t bytes, engine::ValueRef value) {
  return at::Storage(c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), bytes,
      device::make_data(device, static_cast<int64_t>(bytes), std::move(value)), &device::allocator(), true));
}

/// The distinct storages of some tensors, numbered.
class Storages {
 public:
  int number(const at::Tensor& tensor) {
    auto* storage = tensor.storage().unsafeGetStorageImpl();
    auto [known, is_new] = numbers_.emplace(storage, static_cast<int>(cells.size()));
    if (is_new) {
      cells.push_back(&device::cell_of(*storage));
      values.push_back(cells.back()->load());
      impls.push_back(storage);
    }
    return known->second;
  }

  std::vector<engine::Cell*> cells;
  std::vector<engine::ValueRef> values;
  std::vector<c10::StorageImpl*> impls;

 private:
  std::unordered_map<c10::StorageImpl*, int> numbers_;
};

void add_type(Hasher& hasher, const engine::ValueRef& value) {
  if (!value) return hasher.add(uint64_t{0});
  hasher.add(static_cast<uint64_t>(value->type().element) + 1);
  hasher.add(value->type().dims.size());
  for (int64_t dim : value->type().dims) hasher.add(dim);
}

Hash128 key_of(engine::Device& device, const Program::Tensors& inputs, uint64_t salt, Storages& storages) {
  Hasher hasher;
  hasher.add(engine::Runtime::get().configuration().hash);
  hasher.add(salt);
  for (const at::Tensor& tensor : inputs) {
    if (!tensor.defined()) {
      hasher.add(uint64_t{0});
      continue;
    }
    check(is_tpu(tensor) && &cell_of(tensor).device() == &device, ErrorCode::InvalidArgument,
          "a compiled graph of tpu:", device.ordinal(), " got an input on ", tensor.device().str());
    size_t known = storages.cells.size();
    int number = storages.number(tensor);
    hasher.add((static_cast<uint64_t>(tensor.scalar_type()) + 1) | static_cast<uint64_t>(tensor.is_conj()) << 8 |
               static_cast<uint64_t>(tensor.is_neg()) << 9 | static_cast<uint64_t>(tensor.dim()) << 16);
    hasher.add(number);
    for (int64_t size : tensor.sizes()) hasher.add(size);
    for (int64_t stride : tensor.strides()) hasher.add(stride);
    hasher.add(tensor.storage_offset());
    if (storages.cells.size() > known) {
      hasher.add(static_cast<uint64_t>(tensor.storage().nbytes()));
      add_type(hasher, storages.values.back());
    }
  }
  return hasher.finish();
}

}  // namespace

struct Program::Layout {
  engine::Plan* plan = nullptr;  // null when nothing is computed
  std::shared_ptr<engine::Plan> held;
  std::optional<engine::Source> source;     // what the plan was made of, when the journal is on
  Hash128 key;                              // of the plan
  std::vector<size_t> inputs;               // storage number of each program input that stands for one
  std::vector<engine::ValueRef> constants;  // the inputs after those
  std::vector<int64_t> starts;
  std::vector<ops::Scalar> scalars;
  std::vector<int64_t> random_blocks;              // per random op
  std::vector<std::pair<size_t, Content>> writes;  // input storages that end with another Value
  std::vector<Content> storages;                   // new ones, numbered after those of the inputs
  std::vector<Lie> outputs;
};

Program::Program(engine::Device& device) : device_(device) {}
Program::~Program() = default;

Program::Layout* Program::find(const Tensors& inputs, uint64_t salt) {
  Storages storages;
  auto known = layouts_.find(key_of(device_, inputs, salt, storages));
  return known == layouts_.end() ? nullptr : known->second.get();
}

Program::Tensors Program::begin(const Tensors& inputs, uint64_t salt) {
  check(trace_ == nullptr, ErrorCode::Internal, "a graph is traced twice at once");
  Storages storages;
  Hash128 key = key_of(device_, inputs, salt, storages);
  auto trace = std::make_unique<Trace>(device_);
  trace->key = key;
  for (size_t s = 0; s < storages.cells.size(); ++s) {
    engine::ValueRef placeholder;
    if (storages.values[s]) placeholder = trace->recorder.add_placeholder(storages.values[s]->type());
    if (placeholder) trace->inputs.emplace(placeholder.get(), static_cast<int>(s));
    trace->storages.push_back(new_storage(device_, storages.impls[s]->nbytes(), placeholder));
    trace->placeholders.push_back(std::move(placeholder));
  }
  Tensors stand_ins;
  for (const at::Tensor& tensor : inputs) {
    if (!tensor.defined()) {
      stand_ins.emplace_back();
      continue;
    }
    int number = storages.number(tensor);
    stand_ins.push_back(tensor_over(trace->storages[static_cast<size_t>(number)], lie_of(tensor, number)));
  }
  trace_ = std::move(trace);
  return stand_ins;
}

void Program::abandon() { trace_.reset(); }

Program::Layout* Program::finish(const Tensors& outputs) {
  check(trace_ != nullptr, ErrorCode::Internal, "no graph is being traced");
  std::unique_ptr<Trace> trace = std::move(trace_);
  engine::Recorder& recorder = trace->recorder;
  auto layout = std::make_unique<Layout>();
  engine::Segment segment = recorder.segment();
  std::vector<bool> wanted(segment.results.size(), false);

  // Results are numbered as the plan will give them when all wanted ones are known.
  auto content_of = [&](engine::Cell& cell, size_t bytes) {
    Content content;
    content.bytes = bytes;
    engine::ValueRef value = cell.load();
    if (!value) return content;
    if (int number = recorder.result_number(*value); number >= 0) {
      content.kind = Content::Kind::Output;
      content.number = static_cast<size_t>(number);
      wanted[content.number] = true;
    } else if (auto input = trace->inputs.find(value.get()); input != trace->inputs.end()) {
      content.kind = Content::Kind::Input;
      content.number = static_cast<size_t>(input->second);
    } else {
      content.kind = Content::Kind::Constant;
      content.constant = std::move(value);
    }
    return content;
  };

  std::unordered_map<c10::StorageImpl*, int> numbers;
  for (size_t s = 0; s < trace->storages.size(); ++s) {
    auto* storage = trace->storages[s].unsafeGetStorageImpl();
    numbers.emplace(storage, static_cast<int>(s));
    engine::Cell& cell = device::cell_of(*storage);
    if (cell.load().get() == trace->placeholders[s].get()) continue;
    Content content = content_of(cell, storage->nbytes());
    // The old elements are gone when the program has run, so their memory may be used for the new ones.
    if (content.kind == Content::Kind::Output && trace->placeholders[s]) {
      for (size_t i = 0; i < segment.inputs.size(); ++i)
        if (segment.inputs[i].get() == trace->placeholders[s].get())
          segment.origins[content.number] = static_cast<int>(i);
    }
    layout->writes.emplace_back(s, std::move(content));
  }
  for (const at::Tensor& output : outputs) {
    if (!output.defined()) {
      layout->outputs.emplace_back();
      continue;
    }
    auto* storage = output.storage().unsafeGetStorageImpl();
    auto fresh = static_cast<int>(trace->storages.size() + layout->storages.size());
    auto [known, is_new] = numbers.emplace(storage, fresh);
    if (is_new) layout->storages.push_back(content_of(device::cell_of(*storage), storage->nbytes()));
    layout->outputs.push_back(lie_of(output, known->second));
  }

  // An input is given away only where its storage gets another Value and nothing else keeps the old one.
  std::vector<bool> is_given(trace->storages.size(), false);
  for (const auto& write : layout->writes) is_given[write.first] = true;
  auto keep = [&](const Content& content) {
    if (content.kind == Content::Kind::Input) is_given[content.number] = false;
  };
  for (const auto& write : layout->writes) keep(write.second);
  for (const Content& content : layout->storages) keep(content);
  for (int& origin : segment.origins) {
    if (origin < 0) continue;
    auto input = trace->inputs.find(segment.inputs[static_cast<size_t>(origin)].get());
    if (input == trace->inputs.end() || !is_given[static_cast<size_t>(input->second)]) origin = -1;
  }

  std::vector<size_t> places(wanted.size());
  size_t place = 0;
  for (size_t k = 0; k < wanted.size(); ++k)
    if (wanted[k]) places[k] = place++;
  auto renumber = [&](Content& content) {
    if (content.kind == Content::Kind::Output) content.number = places[content.number];
  };
  for (auto& write : layout->writes) renumber(write.second);
  for (Content& content : layout->storages) renumber(content);

  for (const engine::ValueRef& input : segment.inputs) {
    auto known = trace->inputs.find(input.get());
    if (known != trace->inputs.end())
      layout->inputs.push_back(static_cast<size_t>(known->second));
    else
      layout->constants.push_back(input);
  }
  layout->starts = segment.starts;
  layout->scalars = segment.scalars;
  for (const engine::Segment::Op& op : segment.ops) {
    const engine::Plan& description = *op.description;
    for (int64_t blocks : description.random_blocks) layout->random_blocks.push_back(blocks);
  }
  segment.close(wanted);
  if (segment.has_purpose()) {
    Hasher with_donors;  // which inputs may be given away is no consequence of the ops here
    with_donors.add(segment.key);
    for (int origin : segment.origins) with_donors.add(origin);
    Hash128 key = with_donors.finish();
    engine::Plan* plan = engine::find_plan(key);
    if (plan == nullptr) plan = engine::make_plan(key, device_, segment.graph(), segment.ops[0].line);
    if (engine::journal_is_on()) layout->source = engine::Source{segment.graph(), segment.lines()};
    layout->key = key;
    layout->held = plan->shared_from_this();
    layout->plan = plan;
  }
  if (layouts_.size() >= kMostLayouts) layouts_.clear();
  return (layouts_[trace->key] = std::move(layout)).get();
}

Program::Tensors Program::run(Layout& layout, const Tensors& inputs) {
  Storages storages;
  std::vector<int> numbers;
  for (const at::Tensor& input : inputs)
    if (input.defined()) storages.number(input);

  std::vector<engine::ValueRef> results;
  if (layout.plan != nullptr) {
    engine::Arguments arguments;
    std::vector<engine::Value*> values;
    std::vector<engine::Cell*> donors;
    for (size_t storage : layout.inputs) {
      values.push_back(storages.values[storage].get());
      donors.push_back(storages.cells[storage]);
    }
    for (const engine::ValueRef& constant : layout.constants) {
      values.push_back(constant.get());
      donors.push_back(nullptr);
    }
    std::vector<uint64_t> random;
    for (int64_t blocks : layout.random_blocks) {
      device::Block block{};
      if (blocks > 0) block = device::generator_of(std::nullopt, device_.ordinal()).take(static_cast<uint64_t>(blocks));
      random.insert(random.end(), {block.seed, block.offset, 0});
    }
    arguments.inputs = values;
    arguments.donors = donors;
    arguments.starts = layout.starts;
    arguments.scalars = layout.scalars;
    arguments.random = random;
    if (engine::journal_is_on() && layout.source) [[unlikely]]
      engine::note_run(layout.key, device_, values, [&] { return *layout.source; });
    results.resize(layout.plan->outputs.size());
    engine::run(*layout.plan, device_, arguments, results);
  }

  auto value_of = [&](const Content& content) -> engine::ValueRef {
    switch (content.kind) {
      case Content::Kind::Unset: return {};
      case Content::Kind::Output: return results[content.number];
      case Content::Kind::Input: return storages.values[content.number];
      case Content::Kind::Constant: return content.constant;
    }
    return {};
  };
  std::vector<at::Storage> made;
  for (const Content& content : layout.storages) made.push_back(new_storage(device_, content.bytes, value_of(content)));
  for (const auto& [storage, content] : layout.writes) storages.cells[storage]->store(value_of(content));
  Tensors outputs;
  for (const Lie& lie : layout.outputs) {
    if (lie.storage < 0) {
      outputs.emplace_back();
      continue;
    }
    auto number = static_cast<size_t>(lie.storage);
    size_t input_count = storages.cells.size();
    at::Storage storage = number < input_count
                              ? at::Storage(c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(storages.impls[number]))
                              : made[number - input_count];
    outputs.push_back(tensor_over(std::move(storage), lie));
  }
  return outputs;
}

}  // namespace tpu::aten
