const startedAt = performance.now()

/** Prints one line with the seconds since the process started. */
export function log(text: string): void {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(2).padStart(7)
  process.stdout.write(`${seconds} s  ${text}\n`)
}
