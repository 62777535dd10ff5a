/** The program's code; a text for a panic. */
export type RefusalCode = number | string

/** The program refuses the swap; the accounts do not change. */
class SwapRefusal extends Error {
  override readonly name = 'SwapRefusal'
  readonly code: RefusalCode

  constructor(code: RefusalCode) {
    super(`the program refuses the swap: ${code}`)
    this.code = code
  }
}

/** Refuses the swap with the program's code unless the condition holds. */
export function refuseUnless(condition: boolean, code: RefusalCode): asserts condition {
  if (!condition) throw new SwapRefusal(code)
}

/** The result of `run`, or the code of its refusal. Other errors pass through. */
export function catchRefusal<T>(run: () => T): T | Readonly<{ error: RefusalCode }> {
  try {
    return run()
  } catch (error) {
    if (error instanceof SwapRefusal) return { error: error.code }
    throw error
  }
}
