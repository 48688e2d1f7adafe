#include "dist/backend.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/Utils.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include "aten/host.h"
#include "aten/tensor.h"
#include "base/error.h"
#include "device/errors.h"
#include "dist/agreement.h"

namespace tpu::dist {

namespace {

using c10d::OpType;
using device::translated;
using Tensors = Backend::Tensors;
using WorkRef = Backend::WorkRef;
using Milliseconds = std::chrono::milliseconds;

// A message goes under its tag, its header under the tag and this bit.
constexpr int kHeaderTag = 1 << 30;

std::atomic<GlooFactory> gloo_factory{nullptr};

// ------------------------------------------------------------------------------------------------ host memory

// The elements of an input as contiguous CPU memory that nobody may write.
at::Tensor lend(const char* call, const at::Tensor& tensor) {
  check(aten::is_tpu(tensor) && tensor.layout() == c10::kStrided, ErrorCode::InvalidArgument, "tpu_dist ", call,
        ": expected a dense tensor on device tpu, got a ", c10::toString(tensor.layout()), " one on ",
        tensor.device().str());
  return aten::host_alias(tensor).resolve_conj().resolve_neg().contiguous();
}

Tensors lend(const char* call, const Tensors& tensors) {
  Tensors lent;
  for (const at::Tensor& tensor : tensors) lent.push_back(lend(call, tensor));
  return lent;
}

// Memory for the new elements of `target`.
Output output_for(const char* call, const at::Tensor& target) {
  check(aten::is_tpu(target) && target.layout() == c10::kStrided, ErrorCode::InvalidArgument, "tpu_dist ", call,
        ": expected a dense output on device tpu, got a ", c10::toString(target.layout()), " one on ",
        target.device().str());
  return {target, at::empty(target.sizes(), at::TensorOptions().dtype(target.scalar_type()))};
}

std::vector<Output> outputs_for(const char* call, const Tensors& targets) {
  std::vector<Output> outputs;
  for (const at::Tensor& target : targets) outputs.push_back(output_for(call, target));
  return outputs;
}

// Gloo moves bytes whatever they mean.
at::Tensor bytes_of(const at::Tensor& host) { return host.flatten().view(at::kByte); }

Tensors bytes_of(const Tensors& hosts) {
  Tensors bytes;
  for (const at::Tensor& host : hosts) bytes.push_back(bytes_of(host));
  return bytes;
}

Tensors hosts_of(const std::vector<Output>& outputs) {
  Tensors hosts;
  for (const Output& output : outputs) hosts.push_back(output.host);
  return hosts;
}

// One after another in one piece of memory.
at::Tensor flattened(const Tensors& hosts) {
  Tensors flat;
  for (const at::Tensor& host : hosts) flat.push_back(host.flatten());
  return at::cat(flat);
}

// `flat` cut into pieces that are shaped like `outputs`.
void cut(const at::Tensor& flat, std::vector<Output>& outputs) {
  int64_t begin = 0;
  for (Output& output : outputs) {
    int64_t count = output.host.numel();
    output.host.flatten().copy_(flat.narrow(0, begin, count));
    begin += count;
  }
}

// ------------------------------------------------------------------------------------------------ notes and checks

std::string describe(const at::Tensor& tensor) {
  return concat(c10::toString(tensor.scalar_type()), " x ", tensor.numel());
}

std::string describe(const Tensors& tensors) {
  std::string all;
  for (const at::Tensor& tensor : tensors) all += (all.empty() ? "" : ", ") + describe(tensor);
  return all;
}

const at::Tensor& only(const char* call, const Tensors& tensors) {
  check(tensors.size() == 1, ErrorCode::InvalidArgument, "tpu_dist ", call, ": expected 1 tensor, got ",
        tensors.size());
  return tensors[0];
}

const Tensors& only(const char* call, const std::vector<Tensors>& lists) {
  check(lists.size() == 1, ErrorCode::InvalidArgument, "tpu_dist ", call, ": expected 1 list of tensors, got ",
        lists.size());
  return lists[0];
}

void expect_count(const char* call, const char* what, size_t got, size_t expected) {
  check(got == expected, ErrorCode::InvalidArgument, "tpu_dist ", call, ": expected ", expected, " ", what, ", got ",
        got);
}

void expect_like(const char* call, const char* what, const at::Tensor& got, const at::Tensor& like) {
  check(got.scalar_type() == like.scalar_type() && got.numel() == like.numel(), ErrorCode::InvalidArgument, "tpu_dist ",
        call, ": expected ", what, " of ", describe(like), " elements, got ", describe(got));
}

void expect_times(const char* call, const char* what, const at::Tensor& large, const at::Tensor& small, int size) {
  check(large.scalar_type() == small.scalar_type() && large.numel() == small.numel() * size, ErrorCode::InvalidArgument,
        "tpu_dist ", call, ": expected ", what, " of ", c10::toString(small.scalar_type()), " x ", small.numel() * size,
        " (", describe(small), " for each of ", size, " ranks), got ", describe(large));
}

template <class Options>
Options with_timeout(Options options, Milliseconds timeout) {
  options.timeout = timeout;
  return options;
}

bool is_even(const Tensors& tensors) {
  return std::all_of(tensors.begin(), tensors.end(),
                     [&](const at::Tensor& tensor) { return tensor.numel() == tensors[0].numel(); });
}

int64_t count_of(const Tensors& tensors) {
  int64_t count = 0;
  for (const at::Tensor& tensor : tensors) count += tensor.numel();
  return count;
}

// ------------------------------------------------------------------------------------------------ exchanges

void allreduce_now(c10d::Backend& gloo, const Reduction& reduction, at::Tensor carried, Milliseconds timeout) {
  c10d::AllreduceOptions options;
  options.reduceOp = reduction.gloo_op();
  options.timeout = timeout;
  Tensors tensors{carried.flatten()};
  gloo.allreduce(tensors, options)->wait();
}

void broadcast_now(c10d::Backend& gloo, const at::Tensor& host, int64_t root, Milliseconds timeout) {
  c10d::BroadcastOptions options;
  options.rootRank = root;
  options.timeout = timeout;
  Tensors tensors{bytes_of(host)};
  gloo.broadcast(tensors, options)->wait();
}

// Gloo's allgather takes equal sizes; of unequal ones each is broadcast by its owner.
void allgather_now(c10d::Backend& gloo, const Tensors& outputs, const at::Tensor& input, Milliseconds timeout) {
  if (is_even(outputs)) {
    std::vector<Tensors> lists{bytes_of(outputs)};
    Tensors inputs{bytes_of(input)};
    gloo.allgather(lists, inputs, with_timeout(c10d::AllgatherOptions(), timeout))->wait();
    return;
  }
  outputs[static_cast<size_t>(gloo.getRank())].copy_(input);
  for (size_t root = 0; root < outputs.size(); ++root) {
    broadcast_now(gloo, outputs[root], static_cast<int64_t>(root), timeout);
  }
}

// All ranks see all sizes, so all of them find the same fault.
void check_splits(c10d::Backend& gloo, const std::vector<int64_t>& in, const std::vector<int64_t>& out,
                  Milliseconds timeout) {
  std::vector<int64_t> both = in;
  both.insert(both.end(), out.begin(), out.end());
  auto rows = exchange_numbers(gloo, both, timeout);
  size_t size = in.size();
  for (size_t from = 0; from < size; ++from) {
    for (size_t to = 0; to < size; ++to) {
      check(rows[from][to] == rows[to][size + from], ErrorCode::InvalidArgument, "rank ", from, " sends ",
            rows[from][to], " bytes to rank ", to, ", which expects ", rows[to][size + from]);
    }
  }
}

// `in` and `out` in bytes for each rank.
void alltoall_now(c10d::Backend& gloo, at::Tensor output, at::Tensor input, std::vector<int64_t> in,
                  std::vector<int64_t> out, Milliseconds timeout) {
  check_splits(gloo, in, out, timeout);
  at::Tensor to = bytes_of(output), from = bytes_of(input);
  gloo.alltoall_base(to, from, out, in, with_timeout(c10d::AllToAllOptions(), timeout))->wait();
}

// Bytes for each rank when dimension 0 is split so; equally without sizes.
std::vector<int64_t> split_bytes(const at::Tensor& tensor, const std::vector<int64_t>& splits, int size) {
  c10d::checkSplitSizes(splits, tensor, size);
  auto bytes = static_cast<int64_t>(tensor.numel() * tensor.itemsize());
  if (splits.empty()) return std::vector<int64_t>(static_cast<size_t>(size), bytes / size);
  std::vector<int64_t> all = splits;
  for (int64_t& split : all) split *= tensor.size(0) == 0 ? 0 : bytes / tensor.size(0);
  return all;
}

std::vector<int64_t> byte_counts(const Tensors& tensors) {
  std::vector<int64_t> counts;
  for (const at::Tensor& tensor : tensors) counts.push_back(static_cast<int64_t>(tensor.nbytes()));
  return counts;
}

}  // namespace

void set_gloo_factory(GlooFactory factory) { gloo_factory = factory; }

// ------------------------------------------------------------------------------------------------ the group

namespace {

c10::intrusive_ptr<c10d::Backend> make_gloo(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                            Milliseconds timeout) {
  auto make = gloo_factory.load();
  return translated([&] {
    check(make != nullptr, ErrorCode::Internal, "no Gloo factory is installed; import torch_tpu first");
    check(size > 0 && rank >= 0 && rank < size, ErrorCode::Value,
          "tpu_dist: expected a rank from 0 to world_size - 1, got rank ", rank, " of world_size ", size);
    return make(store, rank, size, timeout);
  });
}

}  // namespace

Backend::Backend(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size, Milliseconds timeout)
    : c10d::Backend(rank, size),
      gloo_(make_gloo(store, rank, size, timeout)),
      options_(c10::make_intrusive<Options>(timeout)) {}

void Backend::setTimeout(Milliseconds timeout) {
  options_->timeout = timeout;
  gloo_->setTimeout(timeout);
}

Milliseconds Backend::timeout_of(Milliseconds wanted) const {
  return wanted == c10d::kUnsetTimeout ? options_->timeout : wanted;
}

c10::intrusive_ptr<c10d::Backend> Backend::split(const c10::intrusive_ptr<c10d::Store>& store,
                                                 const std::vector<int>& ranks,
                                                 const c10::intrusive_ptr<c10d::Backend::Options>& options) {
  auto place = std::find(ranks.begin(), ranks.end(), rank_);
  if (place == ranks.end()) return nullptr;
  Milliseconds timeout = options ? options->timeout : options_->timeout;
  auto part =
      c10::make_intrusive<Backend>(c10::make_intrusive<c10d::PrefixStore>(kBackendName, store),
                                   static_cast<int>(place - ranks.begin()), static_cast<int>(ranks.size()), timeout);
  if (options) {
    part->options_->group_name = options->group_name;
    part->options_->global_ranks_in_group = options->global_ranks_in_group;
  }
  return part;
}

void Backend::startCoalescing() {
  translated([&] {
    check(!coalescing_, ErrorCode::InvalidArgument, "tpu_dist: the group is coalescing already");
    coalescing_.emplace();
  });
}

WorkRef Backend::endCoalescing() {
  return translated([&] {
    check(coalescing_.has_value(), ErrorCode::InvalidArgument, "tpu_dist: end of coalescing without a start");
    auto works = *std::exchange(coalescing_, std::nullopt);
    return c10::make_intrusive<CoalescedWork>(rank_, std::move(works));
  });
}

WorkRef Backend::remembered(WorkRef work) {
  if (coalescing_) coalescing_->push_back(work);
  return work;
}

WorkRef Backend::submit(Collective collective) {
  ++sequence_;
  auto work = c10::make_intrusive<Work>(rank_, collective.type, collective.note, collective.outputs,
                                        std::move(collective.results));
  collectives_.push([this, work, note = std::move(collective.note), timeout = collective.timeout,
                     exchange = std::move(collective.exchange)] {
    try {
      agree(*gloo_, note, timeout);
      if (exchange) exchange();
    } catch (const std::exception& error) { return work->fail(error); }
    work->succeed();
  });
  return remembered(work);
}

void Backend::check_rank(const char* call, int64_t rank) const {
  check(rank >= 0 && rank < size_, ErrorCode::InvalidArgument, "tpu_dist ", call, ": there is no rank ", rank,
        " in a group of ", size_);
}

// ------------------------------------------------------------------------------------------------ collectives

WorkRef Backend::broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) {
  return translated([&] {
    const at::Tensor& tensor = only("broadcast", tensors);
    check_rank("broadcast", options.rootRank);
    Milliseconds timeout = timeout_of(options.timeout);
    std::vector<Output> outputs;
    at::Tensor host;
    if (options.rootRank == rank_) {
      host = lend("broadcast", tensor);
    } else {
      outputs.push_back(output_for("broadcast", tensor));
      host = outputs[0].host;
    }
    return submit({OpType::BROADCAST, concat("broadcast(", describe(tensor), ", root ", options.rootRank, ")"), timeout,
                   [=, this, root = options.rootRank] { broadcast_now(*gloo_, host, root, timeout); }, outputs,
                   tensors});
  });
}

WorkRef Backend::allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) {
  return translated([&] {
    only("allreduce", tensors);
    return allreduce_each("allreduce", OpType::ALLREDUCE, tensors, options);
  });
}

WorkRef Backend::allreduce_coalesced(Tensors& tensors, const c10d::AllreduceCoalescedOptions& options) {
  return translated(
      [&] { return allreduce_each("allreduce_coalesced", OpType::ALLREDUCE_COALESCED, tensors, options); });
}

WorkRef Backend::allreduce_each(const char* name, OpType type, const Tensors& tensors,
                                const c10d::AllreduceOptions& options) {
  Milliseconds timeout = timeout_of(options.timeout);
  std::vector<Output> outputs = outputs_for(name, tensors);
  std::vector<Reduction> reductions;
  Tensors carried;
  for (const at::Tensor& tensor : tensors) {
    reductions.emplace_back(name, tensor.scalar_type(), options.reduceOp);
    carried.push_back(reductions.back().encode(lend(name, tensor)));
  }
  auto exchange = [this, timeout, reductions, carried, hosts = hosts_of(outputs)] {
    for (size_t i = 0; i < hosts.size(); ++i) {
      allreduce_now(*gloo_, reductions[i], carried[i], timeout);
      hosts[i].set_(reductions[i].decode(carried[i], hosts[i].sizes(), size_));
    }
  };
  return submit({type, concat(name, "(", to_string(options.reduceOp), ", ", describe(tensors), ")"), timeout, exchange,
                 outputs, tensors});
}

WorkRef Backend::reduce(Tensors& tensors, const c10d::ReduceOptions& options) {
  return translated([&] {
    const at::Tensor& tensor = only("reduce", tensors);
    check_rank("reduce", options.rootRank);
    Milliseconds timeout = timeout_of(options.timeout);
    Reduction reduction("reduce", tensor.scalar_type(), options.reduceOp);
    at::Tensor carried = reduction.encode(lend("reduce", tensor));
    bool is_root = options.rootRank == rank_;
    std::vector<Output> outputs;
    if (is_root) outputs.push_back(output_for("reduce", tensor));
    c10d::ReduceOptions gloo_options = options;
    gloo_options.reduceOp = reduction.gloo_op();
    gloo_options.timeout = timeout;
    auto exchange = [=, this, hosts = hosts_of(outputs)] {
      Tensors flat{carried.flatten()};
      gloo_->reduce(flat, gloo_options)->wait();
      for (const at::Tensor& host : hosts) host.set_(reduction.decode(carried, host.sizes(), size_));
    };
    return submit(
        {OpType::REDUCE,
         concat("reduce(", to_string(options.reduceOp), ", ", describe(tensor), ", root ", options.rootRank, ")"),
         timeout, exchange, outputs, tensors});
  });
}

WorkRef Backend::allgather(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) {
  return translated([&] {
    const at::Tensor& input = only("allgather", inputs);
    const Tensors& targets = only("allgather", outputs);
    expect_count("allgather", "output tensors (one for each rank)", targets.size(), static_cast<size_t>(size_));
    expect_like("allgather", "an input like its output:", input, targets[static_cast<size_t>(rank_)]);
    Milliseconds timeout = timeout_of(options.timeout);
    std::vector<Output> written = outputs_for("allgather", targets);
    auto exchange = [this, timeout, hosts = hosts_of(written), host = lend("allgather", input)] {
      allgather_now(*gloo_, hosts, host, timeout);
    };
    return submit(
        {OpType::ALLGATHER, concat("allgather(", describe(targets), ")"), timeout, exchange, written, targets});
  });
}

WorkRef Backend::allgather_coalesced(std::vector<Tensors>& outputs, Tensors& inputs,
                                     const c10d::AllgatherOptions& options) {
  return translated([&] {
    const char* name = "allgather_coalesced";
    expect_count(name, "lists of outputs (one for each rank)", outputs.size(), static_cast<size_t>(size_));
    Tensors targets;
    for (const Tensors& list : outputs) {
      expect_count(name, "outputs in each list", list.size(), inputs.size());
      for (size_t i = 0; i < list.size(); ++i) {
        expect_like(name, "an output like its input:", list[i], inputs[i]);
        targets.push_back(list[i]);
      }
    }
    Milliseconds timeout = timeout_of(options.timeout);
    std::vector<Output> written = outputs_for(name, targets);
    auto exchange = [this, timeout, hosts = hosts_of(written), lent = lend(name, inputs)] {
      for (size_t i = 0; i < lent.size(); ++i) {
        Tensors of_ranks;
        for (size_t at = i; at < hosts.size(); at += lent.size()) of_ranks.push_back(hosts[at]);
        allgather_now(*gloo_, of_ranks, lent[i], timeout);
      }
    };
    return submit(
        {OpType::ALLGATHER_COALESCED, concat(name, "(", describe(inputs), ")"), timeout, exchange, written, targets});
  });
}

WorkRef Backend::_allgather_base(at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions& options) {
  return translated(
      [&] { return allgather_each("allgather_into_tensor", OpType::_ALLGATHER_BASE, {output}, {input}, options); });
}

WorkRef Backend::allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                 const c10d::AllgatherOptions& options) {
  return translated([&] {
    return allgather_each("allgather_into_tensor_coalesced", OpType::ALLGATHER_COALESCED, outputs, inputs, options);
  });
}

WorkRef Backend::allgather_each(const char* name, OpType type, const Tensors& outputs, const Tensors& inputs,
                                const c10d::AllgatherOptions& options) {
  expect_count(name, "outputs (one for each input)", outputs.size(), inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) expect_times(name, "an output", outputs[i], inputs[i], size_);
  Milliseconds timeout = timeout_of(options.timeout);
  std::vector<Output> written = outputs_for(name, outputs);
  auto exchange = [this, timeout, hosts = hosts_of(written), lent = lend(name, inputs)] {
    for (size_t i = 0; i < hosts.size(); ++i) {
      at::Tensor to = bytes_of(hosts[i]), from = bytes_of(lent[i]);
      gloo_->_allgather_base(to, from, with_timeout(c10d::AllgatherOptions(), timeout))->wait();
    }
  };
  return submit({type, concat(name, "(", describe(inputs), ")"), timeout, exchange, written, outputs});
}

WorkRef Backend::gather(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::GatherOptions& options) {
  return translated([&] {
    const at::Tensor& input = only("gather", inputs);
    check_rank("gather", options.rootRank);
    Tensors targets;
    if (options.rootRank == rank_) {
      targets = only("gather", outputs);
      expect_count("gather", "output tensors (one for each rank)", targets.size(), static_cast<size_t>(size_));
      for (const at::Tensor& target : targets) expect_like("gather", "an output like the input:", target, input);
    } else {
      expect_count("gather", "lists of outputs on a rank that is not the root", outputs.size(), 0);
    }
    Milliseconds timeout = timeout_of(options.timeout);
    std::vector<Output> written = outputs_for("gather", targets);
    auto exchange = [this, gloo_options = with_timeout(options, timeout), hosts = hosts_of(written),
                     host = lend("gather", input)] {
      std::vector<Tensors> lists;
      if (!hosts.empty()) lists.push_back(bytes_of(hosts));
      Tensors from{bytes_of(host)};
      gloo_->gather(lists, from, gloo_options)->wait();
    };
    return submit({OpType::GATHER, concat("gather(", describe(input), ", root ", options.rootRank, ")"), timeout,
                   exchange, written, targets});
  });
}

WorkRef Backend::scatter(Tensors& outputs, std::vector<Tensors>& inputs, const c10d::ScatterOptions& options) {
  return translated([&] {
    const at::Tensor& output = only("scatter", outputs);
    check_rank("scatter", options.rootRank);
    Tensors sources;
    if (options.rootRank == rank_) {
      sources = only("scatter", inputs);
      expect_count("scatter", "input tensors (one for each rank)", sources.size(), static_cast<size_t>(size_));
      for (const at::Tensor& source : sources) expect_like("scatter", "an input like the output:", source, output);
    } else {
      expect_count("scatter", "lists of inputs on a rank that is not the root", inputs.size(), 0);
    }
    Milliseconds timeout = timeout_of(options.timeout);
    std::vector<Output> written = outputs_for("scatter", outputs);
    auto exchange = [this, gloo_options = with_timeout(options, timeout), host = written[0].host,
                     lent = lend("scatter", sources)] {
      std::vector<Tensors> lists;
      if (!lent.empty()) lists.push_back(bytes_of(lent));
      Tensors to{bytes_of(host)};
      gloo_->scatter(to, lists, gloo_options)->wait();
    };
    return submit({OpType::SCATTER, concat("scatter(", describe(output), ", root ", options.rootRank, ")"), timeout,
                   exchange, written, outputs});
  });
}

// A reduce_scatter is an allreduce of everything, of which each rank keeps its own part: the same sums on all ranks.
WorkRef Backend::reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                                const c10d::ReduceScatterOptions& options) {
  return translated([&] {
    const at::Tensor& output = only("reduce_scatter", outputs);
    const Tensors& sources = only("reduce_scatter", inputs);
    expect_count("reduce_scatter", "input tensors (one for each rank)", sources.size(), static_cast<size_t>(size_));
    expect_like("reduce_scatter", "an output like its input:", output, sources[static_cast<size_t>(rank_)]);
    for (const at::Tensor& source : sources) {
      check(source.scalar_type() == output.scalar_type(), ErrorCode::InvalidArgument,
            "tpu_dist reduce_scatter: expected inputs of one dtype, got ", describe(sources));
    }
    Milliseconds timeout = timeout_of(options.timeout);
    Reduction reduction("reduce_scatter", output.scalar_type(), options.reduceOp);
    std::vector<Output> written = outputs_for("reduce_scatter", outputs);
    at::Tensor carried = reduction.encode(flattened(lend("reduce_scatter", sources)));
    int64_t begin = count_of(Tensors(sources.begin(), sources.begin() + rank_)), all = count_of(sources);
    auto exchange = [=, this, host = written[0].host] {
      allreduce_now(*gloo_, reduction, carried, timeout);
      host.flatten().copy_(reduction.decode(carried, {all}, size_).narrow(0, begin, host.numel()));
    };
    return submit({OpType::REDUCE_SCATTER,
                   concat("reduce_scatter(", to_string(options.reduceOp), ", ", describe(sources), ")"), timeout,
                   exchange, written, outputs});
  });
}

WorkRef Backend::_reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                      const c10d::ReduceScatterOptions& options) {
  return translated([&] {
    return reduce_scatter_each("reduce_scatter_tensor", OpType::_REDUCE_SCATTER_BASE, {output}, {input}, options);
  });
}

WorkRef Backend::reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                 const c10d::ReduceScatterOptions& options) {
  return translated([&] {
    return reduce_scatter_each("reduce_scatter_tensor_coalesced", OpType::REDUCE_SCATTER_TENSOR_COALESCED, outputs,
                               inputs, options);
  });
}

WorkRef Backend::reduce_scatter_each(const char* name, OpType type, const Tensors& outputs, const Tensors& inputs,
                                     const c10d::ReduceScatterOptions& options) {
  expect_count(name, "outputs (one for each input)", outputs.size(), inputs.size());
  Milliseconds timeout = timeout_of(options.timeout);
  std::vector<Output> written = outputs_for(name, outputs);
  std::vector<Reduction> reductions;
  Tensors carried;
  for (size_t i = 0; i < inputs.size(); ++i) {
    expect_times(name, "an input", inputs[i], outputs[i], size_);
    reductions.emplace_back(name, outputs[i].scalar_type(), options.reduceOp);
    carried.push_back(reductions.back().encode(lend(name, inputs[i]).flatten()));
  }
  auto exchange = [this, timeout, reductions, carried, hosts = hosts_of(written)] {
    for (size_t i = 0; i < hosts.size(); ++i) {
      int64_t count = hosts[i].numel();
      allreduce_now(*gloo_, reductions[i], carried[i], timeout);
      at::Tensor all = reductions[i].decode(carried[i], {count * size_}, size_);
      hosts[i].flatten().copy_(all.narrow(0, count * rank_, count));
    }
  };
  return submit({type, concat(name, "(", to_string(options.reduceOp), ", ", describe(inputs), ")"), timeout, exchange,
                 written, outputs});
}

WorkRef Backend::alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_splits,
                               std::vector<int64_t>& input_splits, const c10d::AllToAllOptions& options) {
  return translated([&] {
    const char* name = "all_to_all_single";
    check(output.scalar_type() == input.scalar_type(), ErrorCode::InvalidArgument, "tpu_dist ", name,
          ": expected one dtype, got an output of ", describe(output), " and an input of ", describe(input));
    Milliseconds timeout = timeout_of(options.timeout);
    std::vector<Output> written = outputs_for(name, {output});
    auto exchange = [this, timeout, host = written[0].host, lent = lend(name, input),
                     in = split_bytes(input, input_splits, size_), out = split_bytes(output, output_splits, size_)] {
      alltoall_now(*gloo_, host, lent, in, out, timeout);
    };
    return submit({OpType::ALLTOALL_BASE,
                   concat(name, "(", c10::toString(input.scalar_type()), ")"),
                   timeout,
                   exchange,
                   written,
                   {output}});
  });
}

WorkRef Backend::alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& options) {
  return translated([&] {
    const char* name = "all_to_all";
    expect_count(name, "output tensors (one for each rank)", outputs.size(), static_cast<size_t>(size_));
    expect_count(name, "input tensors (one for each rank)", inputs.size(), static_cast<size_t>(size_));
    c10::ScalarType dtype = inputs[0].scalar_type();
    for (const Tensors* list : {&inputs, &outputs}) {
      for (const at::Tensor& tensor : *list) {
        check(tensor.scalar_type() == dtype, ErrorCode::InvalidArgument, "tpu_dist ", name,
              ": expected one dtype, got inputs ", describe(inputs), " and outputs ", describe(outputs));
      }
    }
    Milliseconds timeout = timeout_of(options.timeout);
    std::vector<Output> written = outputs_for(name, outputs);
    auto exchange = [this, timeout, written, lent = flattened(lend(name, inputs)), in = byte_counts(inputs),
                     out = byte_counts(outputs)]() mutable {
      at::Tensor flat = at::empty({count_of(hosts_of(written))}, lent.options());
      alltoall_now(*gloo_, flat, lent, in, out, timeout);
      cut(flat, written);
    };
    return submit(
        {OpType::ALLTOALL, concat(name, "(", c10::toString(dtype), ")"), timeout, exchange, written, outputs});
  });
}

// The agreement is the barrier: nobody has all notes before everybody came.
WorkRef Backend::barrier(const c10d::BarrierOptions& options) {
  return submit({OpType::BARRIER, "barrier()", timeout_of(options.timeout), nullptr});
}

// Without an agreement, which would wait instead of telling who is missing.
void Backend::monitoredBarrier(const c10d::BarrierOptions& options, bool wait_for_all_ranks) {
  auto work =
      c10::make_intrusive<Work>(rank_, OpType::BARRIER, "monitored_barrier()", std::vector<Output>(), Tensors());
  collectives_.push([=, this, gloo_options = with_timeout(options, timeout_of(options.timeout))] {
    try {
      gloo_->monitoredBarrier(gloo_options, wait_for_all_ranks);
    } catch (const std::exception& error) { return work->fail(error); }
    work->succeed();
  });
  work->wait();
}

// ------------------------------------------------------------------------------------------------ one to one

Queue& Backend::channel(int peer, int tag, bool sends) {
  std::lock_guard lock(channels_mutex_);
  return channels_[{peer, tag, sends}];
}

WorkRef Backend::send(Tensors& tensors, int to, int tag) {
  return translated([&] {
    const at::Tensor& tensor = only("send", tensors);
    check_rank("send", to);
    check(tag >= 0 && tag < kHeaderTag, ErrorCode::InvalidArgument,
          "tpu_dist send: expected a tag from 0 to 2^30 - 1, got ", tag);
    at::Tensor host = lend("send", tensor);
    Tensors header{make_header(static_cast<int64_t>(host.nbytes()), describe(tensor))}, bytes{bytes_of(host)};
    auto work = c10::make_intrusive<Work>(rank_, OpType::SEND, concat("send(", describe(tensor), ", to rank ", to, ")"),
                                          std::vector<Output>(), tensors);
    // Posted here, so that messages leave in the order of the calls.
    WorkRef first = gloo_->send(header, to, tag | kHeaderTag), second = gloo_->send(bytes, to, tag);
    channel(to, tag, /*sends=*/true).push([=] {
      try {
        first->wait();
        second->wait();
      } catch (const std::exception& error) { return work->fail(error); }
      work->succeed();
    });
    return remembered(work);
  });
}

WorkRef Backend::recv(Tensors& tensors, int from, int tag) {
  return translated([&] {
    check_rank("recv", from);
    return receive(tensors, from, tag);
  });
}

WorkRef Backend::recvAnysource(Tensors& tensors, int tag) {
  return translated([&] { return receive(tensors, std::nullopt, tag); });
}

// What comes with another size is taken out of the channel all the same: Gloo would end the process.
WorkRef Backend::receive(Tensors& tensors, std::optional<int> from, int tag) {
  const at::Tensor& tensor = only("recv", tensors);
  check(tag >= 0 && tag < kHeaderTag, ErrorCode::InvalidArgument,
        "tpu_dist recv: expected a tag from 0 to 2^30 - 1, got ", tag);
  std::vector<Output> outputs = outputs_for("recv", tensors);
  std::string note = describe(tensor);
  auto work = c10::make_intrusive<Work>(
      rank_, from ? OpType::RECV : OpType::RECVANYSOURCE,
      concat("recv(", note, ", from ", from ? concat("rank ", *from) : "any rank", ")"), outputs, tensors);
  channel(from.value_or(-1), tag, /*sends=*/false).push([=, this, host = outputs[0].host] {
    int source = -1;
    try {
      Tensors header{empty_header()};
      WorkRef first =
          from ? gloo_->recv(header, *from, tag | kHeaderTag) : gloo_->recvAnysource(header, tag | kHeaderTag);
      first->wait();
      source = from ? *from : first->sourceRank();
      Header read = read_header(header[0]);
      bool fits = read.note == note;
      Tensors bytes{fits ? bytes_of(host) : at::empty({read.bytes}, at::kByte)};
      gloo_->recv(bytes, source, tag)->wait();
      check(fits, ErrorCode::InvalidArgument, "expected a message of ", note, ", and rank ", source, " sent ",
            read.note);
    } catch (const std::exception& error) { return work->fail(error); }
    work->succeed(source);
  });
  return remembered(work);
}

}  // namespace tpu::dist
