const DAY_MS = 86_400_000

/** A day in UTC as `2026-11-26`; `ago` days before today. */
export const dayAgo = (ago: number): string => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10)
