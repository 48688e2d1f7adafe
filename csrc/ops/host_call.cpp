#include "ops/host_call.h"

#include "base/hash.h"
#include "ops/context.h"

namespace tpu::ops {

namespace {

hlo::Values host_call(Context& c) {
  c.expect(c.settings().is_cpu, ErrorCode::NotImplemented, "a program for a TPU cannot call a kernel of the CPU");
  hlo::Types results;
  for (size_t k = 0; k < c.call().targets.size(); ++k) results.push_back(*c.target(k));
  hlo::CustomCall call;
  call.backend_config = concat("{number = ", c.integer("number"), " : i64}");
  return hlo::custom_call(c.builder(), kHostCallTarget, c.tensors("inputs"), results, call);
}

}  // namespace

Row host_call_row(const char* name) {
  Row row = ops::row(name, host_call);
  row.family = "host";
  Hasher hasher;
  hasher.add(std::string_view(name));
  row.name_hash = hasher.finish().low;
  return row;
}

}  // namespace tpu::ops
