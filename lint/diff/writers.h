// The formats of `kvbudget diff`.
#pragma once

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "lint/diff/compare.h"

namespace kvbudget {

struct DiffView {
  const ComparedSide& base;
  const ComparedSide& head;
  const DiffReport& report;
};

void write_diff_text(const DiffView& view, std::ostream& out);
void write_diff_json(const DiffView& view, std::ostream& out);
/// For a review comment; the first line ends in a mark that finds the comment again.
void write_diff_markdown(const DiffView& view, std::ostream& out);

/// As the user wrote it, but no more than the first digits of a commit's id.
std::string side_name(const ComparedSide& side);
/// "Deployment/chat/vllm"; the kind where there is no name.
std::string deployment_name(const Deployment& deployment);
/// Without the length where the settings name it already.
std::vector<const FigureChange*> figures_for_people(const DeploymentChange& change);
/// The values of both sides with as many digits as it takes to see the difference; "-" for none.
std::pair<std::string, std::string> figure_texts(const FigureChange& change);
/// "-31.9 %", empty where there is no such number.
std::string percent_text(const FigureChange& change);
/// "2 deployments changed, 1 added; 1 new finding"
std::string diff_summary(const DiffReport& report);
/// "KV tokens fall by 31.9 %", "the verdict gets worse"
std::string loss_text(const Loss& loss);

}  // namespace kvbudget
