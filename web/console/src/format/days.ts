const DAY_MS = 86_400_000

/** A day in UTC as `2026-11-26`; `ago` days before today. */
export const dayAgo = (ago: number): string => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10)

/** The days of a period, both ends included. */
export function listDays(from: string, to: string): readonly string[] {
  const count = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1
  return Array.from({ length: Math.max(0, count || 0) }, (_day, n) =>
    new Date(Date.parse(from) + n * DAY_MS).toISOString().slice(0, 10),
  )
}
