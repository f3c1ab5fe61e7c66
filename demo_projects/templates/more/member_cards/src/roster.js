import { memberCard, teamName } from "./card.js";

export function rosterLines(members) {
  return [...members]
    .sort((left, right) => left.name.localeCompare(right.name))
    .map(memberCard);
}

export function teamSizes(members) {
  const sizes = {};
  for (const member of members) {
    const team = teamName(member);
    sizes[team] = (sizes[team] ?? 0) + 1;
  }
  return sizes;
}
