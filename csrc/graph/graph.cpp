#include "graph/graph.h"

#include "ops/row.h"

namespace tpu::graph {

namespace {

std::string view_text(const ViewPlan& plan) {
  if (plan.kind == ViewPlan::Kind::Whole) return "";
  const View& view = plan.view;
  std::string text =
      concat(" as ", torch_name(view.element), to_string(view.sizes), " strides ", to_string(view.strides));
  if (plan.kind == ViewPlan::Kind::Gather) text += " gathered";
  return text + (plan.is_static ? "" : " from a run-time start");
}

std::string base_name(const Graph& graph, int base) {
  if (base < 0) return "zeros";
  auto number = static_cast<size_t>(base);
  if (number < graph.inputs.size()) return concat("in", number);
  number -= graph.inputs.size();
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (number < graph.nodes[n].writes.size()) return concat("node", n, ".", number);
    number -= graph.nodes[n].writes.size();
  }
  return "?";
}

}  // namespace

std::string to_string(const Graph& graph) {
  std::string text;
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    text += concat("in", i, ": ", torch_name(graph.inputs[i].element), to_string(graph.inputs[i].dims), "\n");
  for (const Node& node : graph.nodes) {
    text += to_string(node.call) + "\n";
    for (size_t i = 0; i < node.reads.size(); ++i)
      text += concat("  operand ", i, " = ", base_name(graph, node.reads[i].base), view_text(node.reads[i].plan), "\n");
    for (size_t k = 0; k < node.writes.size(); ++k) {
      const Write& write = node.writes[k];
      text += concat("  result ", k);
      switch (write.kind) {
        case Write::Kind::Fresh: text += " is a new tensor"; break;
        case Write::Kind::Replace:
          text += concat(" replaces ", torch_name(write.type.element), to_string(write.type.dims));
          break;
        case Write::Kind::Update:
          text += concat(" updates ", base_name(graph, write.base), view_text(write.plan));
          break;
        case Write::Kind::Drop: text += " is dropped"; break;
      }
      if (write.donor >= 0) text += concat(" in the memory of ", base_name(graph, write.donor));
      text += "\n";
    }
  }
  return text;
}

}  // namespace tpu::graph
