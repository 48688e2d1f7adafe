// The end of the interpreter: what must be over before it. See Note [Errands] in engine/errand.h.
#include <c10/core/AutogradState.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/utils/pybind.h>

#include "device/guard.h"
#include "engine/background.h"
#include "engine/errand.h"
#include "engine/runtime.h"
#include "python/bindings.h"

namespace tpu::python {

namespace {

struct Nothing final : torch::autograd::Node {
  torch::autograd::variable_list apply(torch::autograd::variable_list&&) override { return {}; }
};

// backward() returns when its results are there, while the thread that autograd has for each device is still letting
// go of the graph, with what Python owns of it. That thread does one thing after another: when a node that we give it
// has run, the graphs before it are gone.
void finish_autograd() {
  if (!device::other_threads_came() || !engine::Runtime::is_started()) return;
  engine::Blocking blocking;                                             // the engine refuses to be called with the GIL
  c10::AutogradState::get_tls_state().set_multithreading_enabled(true);  // else it would be this thread that runs it
  for (int ordinal = 0; ordinal < engine::Runtime::get().device_count(); ++ordinal) {
    c10::Device here(c10::DeviceType::PrivateUse1, static_cast<c10::DeviceIndex>(ordinal));
    at::Tensor gradient = at::empty({1}, at::TensorOptions().device(here));
    auto node = c10::make_intrusive<Nothing>();
    node->add_input_metadata(gradient);
    torch::autograd::Engine::get_default_engine().execute({torch::autograd::Edge(node, 0)}, {gradient},
                                                          /*keep_graph=*/false, /*create_graph=*/false,
                                                          /*accumulate_grad=*/true);
  }
}

}  // namespace

void define_shutdown(py::module_& module) {
  module.def(
      "shut_down",
      [] {
        try {
          finish_autograd();
        } catch (const std::exception&) {
          // Nobody is left to be told; the process ends as it would have.
        }
        engine::stop_background();
        engine::finish_errands();
      },
      "Waits for work of other threads that may drop Python objects; called before the interpreter ends.");
}

}  // namespace tpu::python
