// What the values of a chart say about one engine, whatever the chart.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lint/read/rendered.h"

namespace kvbudget {

/// Facts under one key of the values. Keys are told by what they spell: `maxModelLen`,
/// `MAX_MODEL_LEN` and `max.model.len` are all vLLM's option.
struct ChartScope {
  std::vector<Word> options;     ///< flags that keys spell
  std::vector<NodePtr> command;  ///< items of `command` …
  std::vector<Word> arguments;   ///< … and of `args` and keys like it
  std::vector<NodePtr> env;      ///< `{name, value}`
  std::vector<NodePtr> models;   ///< every different model named
  NodePtr image;
  NodePtr resources;
  NodePtr node_selector;
  NodePtr affinity;
  NodePtr replicas;
  NodePtr gpu_count;
  NodePtr gpu_name;
  /// Repository and tag stand apart, or the image holds for several mappings, as in charts alone.
  bool image_of_chart = false;
  bool foreign = false;  ///< options of another server
  int distinctive = 0;   ///< options that no other program shares

  /// Takes over what is not said here.
  void fill_from(const ChartScope& outer);
  /// Adds what a part says.
  void append(const ChartScope& part);
};

enum class ScopeReach {
  kOwn,    ///< the mapping's own entries
  kParts,  ///< and mappings that are plainly parts of one engine: `model`, `config`; where the
           ///< mapping names an image, all of them
  kWhole   ///< and all mappings
};

/// Reads `values`, without components in it that have an image of their own.
ChartScope read_chart_scope(const Node& values, ScopeReach reach = ScopeReach::kParts);

/// The image a mapping names: `image` as text or as registry, repository and tag; null if none.
NodePtr chart_image(const Node& values);

/// "maxmodellen" of `maxModelLen`, `max-model-len` and `MAX_MODEL_LEN`.
std::string plain_key(std::string_view key);

bool is_environment(const std::string& plain);

/// What a key holds that is no part of the engine: services, probes, storage, other containers.
bool is_beside_engine(const std::string& plain);

}  // namespace kvbudget
