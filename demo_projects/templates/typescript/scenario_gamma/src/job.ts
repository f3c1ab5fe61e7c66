export interface Job {
  name: string;
  region: string;
  priority: number;
}

export function byPriority(left: Job, right: Job): number {
  return right.priority - left.priority || left.name.localeCompare(right.name);
}
