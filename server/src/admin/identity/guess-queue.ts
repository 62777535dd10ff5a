import { AppError } from '../../core/domain/errors.ts'

/** Guesses computed at a time, so that logins cannot take all cores and the memory. */
const RUNNING_MAX = 2
/** Guesses of each kind that wait or are computed: about four seconds of work. */
const PLACES_MAX = 20

/**
 * Who makes a guess. Known are sessions, invitations, and clients from which the operator logged in before. `signal` is aborted
 * when the client disconnects.
 */
export type Guesser = Readonly<{ isKnown: boolean; signal: AbortSignal | null }>

type GuessQueue = Readonly<{
  /** Holds a place during the work, or refuses at once. Strangers take the places of strangers only. */
  admit<T>(guesser: Guesser, work: () => Promise<T>): Promise<T>
  /** Computes a guess when it is its turn: the known before strangers, each in the order of arrival. */
  compute<T>(guesser: Guesser, guess: () => Promise<T>): Promise<T>
}>

const kindOf = ({ isKnown }: Guesser) => (isKnown ? 'known' : 'stranger')

const disconnected = () => new AppError('VALIDATION_ERROR', 'the connection ended before the password was checked')

export function createGuessQueue(): GuessQueue {
  const places = { known: 0, stranger: 0 }
  const waiting = { known: new Set<() => void>(), stranger: new Set<() => void>() }
  let running = 0

  function begin(guesser: Guesser): Promise<void> {
    const { signal } = guesser
    if (signal?.aborted) return Promise.reject(disconnected())
    if (running < RUNNING_MAX) {
      running += 1
      return Promise.resolve()
    }
    const turns = waiting[kindOf(guesser)]
    return new Promise((resolve, reject) => {
      const start = () => {
        turns.delete(start)
        signal?.removeEventListener('abort', drop)
        resolve()
      }
      const drop = () => {
        turns.delete(start)
        reject(disconnected())
      }
      turns.add(start)
      signal?.addEventListener('abort', drop, { once: true })
    })
  }

  function end(): void {
    const [start] = [...waiting.known, ...waiting.stranger]
    if (start) start()
    else running -= 1
  }

  return {
    async admit(guesser, work) {
      const kind = kindOf(guesser)
      if (places[kind] >= PLACES_MAX)
        throw new AppError('OVERLOADED', 'too many logins are being checked: try again in a few seconds')
      places[kind] += 1
      try {
        return await work()
      } finally {
        places[kind] -= 1
      }
    },
    async compute(guesser, guess) {
      await begin(guesser)
      try {
        return await guess()
      } finally {
        end()
      }
    },
  }
}
