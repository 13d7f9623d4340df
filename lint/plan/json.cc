#include "lint/plan/json.h"

#include <utility>

namespace kvbudget::plan {
namespace {

Json admission_json(const Plan& plan) {
  Json tenants = Json::array();
  for (const Tenant& tenant : plan.tenants) {
    tenants.push_back({{"name", tenant.name},
                       {"weight", tenant.weight},
                       {"min_blocks", tenant.min_blocks},
                       {"max_blocks", tenant.max_blocks.value_or(plan.usable_blocks)}});
  }
  return {{"mode", plan.mode},
          {"max_pending", plan.max_pending},
          {"max_hold_seconds", plan.max_hold_seconds},
          {"tenants", std::move(tenants)}};
}

}  // namespace

Json plan_json(const Plan& plan) {
  const memory::EngineSettings& engine = plan.engine;
  return {{"schema", kJsonSchema},
          {"model", text_or_null(plan.model)},
          {"engine", {{"name", "vllm"}, {"versions", Json::array({plan.version})}}},
          {"config_sha256", plan.config_sha256},
          {"config_source", plan.config_source},
          {"parallel",
           {{"tp", engine.tensor_parallel},
            {"pp", engine.pipeline_parallel},
            {"dp", engine.data_parallel}}},
          {"kv_cache_dtype", engine.kv_cache_dtype},
          {"block_size", plan.block_tokens},
          {"groups", groups_json(plan.pool.pinned)},
          {"bytes_per_block", plan.pool.bytes_per_block},
          {"num_blocks", plan.pool.num_blocks},
          {"usable_blocks", plan.usable_blocks},
          {"max_model_len", plan.pool.pinned.max_model_len},
          {"max_num_seqs", engine.max_num_seqs},
          {"terms", terms_json(plan.pool.free)},
          {"flags", plan.flags},
          {"admission", admission_json(plan)}};
}

std::string additional_config(std::string_view before, const std::string& mode) {
  Json config = Json::parse(before, nullptr, /*allow_exceptions=*/false);
  if (!config.is_object()) config = Json::object();
  config["kvbudget"] = {{"plan", kMountedPlan}, {"mode", mode}};
  return config.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<Json> parse_plan(std::string_view text) {
  Json plan = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return plan.is_object() ? std::optional(std::move(plan)) : std::nullopt;
}

std::string mode_of(const Json& plan) {
  const auto admission = plan.find("admission");
  if (admission == plan.end() || !admission->is_object()) return "";
  const auto mode = admission->find("mode");
  const bool is_text = mode != admission->end() && mode->is_string();
  return is_text ? mode->get<std::string>() : "";
}

}  // namespace kvbudget::plan
