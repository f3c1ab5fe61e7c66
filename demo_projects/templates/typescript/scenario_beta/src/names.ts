export function canonicalName(name: string): string {
  return name.trim().toLowerCase();
}
