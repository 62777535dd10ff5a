/** Module and code of an abort of a Move function; `arithmetic` is the VM's own error for overflows and divisions by 0. */
export type MoveAbortCode = Readonly<{ module: string; code: number | 'arithmetic' }>

/** The Move function aborts; nothing changes on chain. */
export class MoveAbort extends Error {
  override readonly name = 'MoveAbort'
  readonly abort: MoveAbortCode

  constructor(module: string, code: MoveAbortCode['code']) {
    super(`Move function aborts in ${module} with ${code}`)
    this.abort = { module, code }
  }
}

/** Aborts unless the condition holds. */
export function abortUnless(condition: boolean, module: string, code: MoveAbortCode['code']): asserts condition {
  if (!condition) throw new MoveAbort(module, code)
}

/** The result of `run`, or the code of its abort. Other errors pass through. */
export function catchAbort<T>(run: () => T): T | Readonly<{ abort: MoveAbortCode }> {
  try {
    return run()
  } catch (error) {
    if (error instanceof MoveAbort) return { abort: error.abort }
    throw error
  }
}
