#include "lint/memory/plan_rules.h"

namespace kvbudget::memory {
namespace {

uint32_t widen_below_percent(EngineRelease release) {
  if (release.at_least(18)) return 150;
  return release.at_least(12) ? 125 : 100;
}

Packing packing(EngineRelease release) {
  if (release.at_least(29)) return Packing::kByLayout;
  if (release.at_least(27)) return Packing::kWidest;
  return release.at_least(23) ? Packing::kBuckets : Packing::kTuples;
}

CheckScope check_scope(EngineRelease release) {
  if (release.at_least(17)) return CheckScope::kRank;
  return release.at_least(14) ? CheckScope::kWholeModel : CheckScope::kLayers;
}

void set_layers(EngineRelease release, PlanRules& rules) {
  rules.modelopt_kv_dtype = release.at_least(14);
  rules.compressed_kv_dtype = release.at_least(15);
  rules.compressed_kv_wins = release.at_least(15) && !release.at_least(22);
  rules.block_flag_aligns = release.at_least(20);
  rules.quantised_mla_tokens = release.at_least(33) ? 16 : 64;
  rules.hybrid_mla_tokens = release.at_least(28) ? 128 : 64;
  rules.mamba_all_takes_chunks = release.at_least(14) && !release.at_least(32);
  rules.mamba2_keeps_checkpoint = release.at_least(32);
  rules.kda_keeps_checkpoint = release.at_least(29);
  rules.delta_keeps_checkpoint = release.at_least(33);
  rules.narrow_values = release.at_least(20);
  rules.plain_mla = release.at_least(26);
  rules.plain_pages_pad = release.at_least(25);
  rules.backends_pad = release.at_least(24) && !release.at_least(29);
}

void set_sizes(EngineRelease release, PlanRules& rules) {
  rules.full_counts_value_heads = release.at_least(14);
  rules.windows_count_value_heads = release.at_least(20);
  rules.all_count_value_heads = release.at_least(28);
  rules.v4_record_needs_ds_dtype = release.at_least(23);
  rules.cross_holds_batch = release.at_least(13);  // vllm-project/vllm#29421
  rules.in_flight_tokens = release.at_least(26);
  rules.prefill_shards_context = release.at_least(12) && !release.at_least(26);
  rules.shards_per_spec = release.at_least(31);
  rules.mamba_by_length = release.at_least(11, 1) && !release.at_least(15);
  rules.mamba_modes = release.at_least(15);
  rules.mamba_all_speculates = release.at_least(22);
  rules.mamba_all_as_none = release.at_least(32);
}

void set_grouping(EngineRelease release, PlanRules& rules) {
  rules.groups_across_ranks = release.at_least(11);
  rules.uniform_types = release.at_least(11);
  rules.mla_is_a_type = release.at_least(11);
  rules.sorts_groups = !release.at_least(11);
  rules.strided_groups = release.at_least(11);
  rules.widen_below_percent = widen_below_percent(release);
  rules.scales_blocks = release.at_least(12);
  rules.pads_by_backend = release.at_least(24) && !release.at_least(29);
  rules.pads_attention = release.at_least(29);
  rules.pads_mamba = release.at_least(26);
  rules.merges_groups = release.at_least(27);
  rules.merge_compares_values = release.at_least(28);
  rules.merge_compares_mla = release.at_least(27);
  rules.merge_compares_shards = release.at_least(31);
  rules.mamba_type_compares_pages = release.at_least(29);
  rules.sliding_mla = release.at_least(20) && !release.at_least(29);
  rules.sliding_mla_if_mixed = release.at_least(26);
  rules.sliding_mla_takes_page = !release.at_least(27);
  rules.packing = packing(release);
  rules.promotes_if_unpaddable = release.at_least(27);
  rules.promotion_keeps_padding = release.at_least(15);
  rules.promotion_keeps_values = release.at_least(21);
  rules.promotion_takes_block = release.at_least(27);
  rules.promotion_keeps_all = release.at_least(28);
}

void set_results(EngineRelease release, PlanRules& rules) {
  rules.check = check_scope(release);
  rules.check_sums_groups = release.at_least(19);
  rules.check_by_pool = release.at_least(29);
  rules.projects_groups = release.at_least(17);
  rules.auto_fit = release.at_least(14);
  rules.override_decides = release.at_least(20);
  rules.withholds_null_block = release.at_least(29);
  rules.concurrency_by_group = release.at_least(27);
  rules.shrinks_tensors = release.at_least(11, 1);
  rules.logs_cache_block = !release.at_least(11);
  rules.logs_concurrency = release.at_least(20, 1);
}

}  // namespace

PlanRules rules_for(EngineRelease release) {
  PlanRules rules;
  set_layers(release, rules);
  set_sizes(release, rules);
  set_grouping(release, rules);
  set_results(release, rules);
  return rules;
}

}  // namespace kvbudget::memory
