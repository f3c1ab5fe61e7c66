export function teamName(member) {
  return member.team.name ?? "no team";
}

export function memberCard(member) {
  return `${member.name} (${teamName(member)}), since ${member.joined}`;
}
