const startedAt = performance.now()

/** One line per step, with the time since the process began. */
export function log(text: string): void {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(2).padStart(7)
  process.stdout.write(`${seconds} s  ${text}\n`)
}
