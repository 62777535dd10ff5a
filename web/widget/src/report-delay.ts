/** After this time a person may think that nothing happens. An attempt of a call may take 30 s. */
const DELAY_MS = 5_000

/** Waits for the result, and reports once that it takes long. */
export async function reportDelay<Result>(result: Promise<Result>, onDelay: () => void): Promise<Result> {
  const timer = setTimeout(onDelay, DELAY_MS)
  try {
    return await result
  } finally {
    clearTimeout(timer)
  }
}
