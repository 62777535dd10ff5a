import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'

/** What an interruption may show to a partner: a 503, or a connection that is refused, or reset before the reply. */
export type Symptom = '503' | 'lost'

/**
 * When the suite interrupts API processes, and why. A 503 or a lost connection at another time, of another process, or of another kind is
 * a finding, so that no repeated request hides a process that does not answer. The only exception is the suite's `Overload`.
 */
export type Interruptions = Readonly<{
  /** Begins one. Call the result when the fault is removed: the interruption ends when each process is ready again. */
  begin(reason: string, urls: readonly string[], symptoms: readonly Symptom[]): () => void
  /** A process of any role starts. Call the result when it is ready or has exited. */
  noteStart(): () => void
  /** Counts a request that was answered, other than with a 503. */
  countAnswer(): void
  /** Whether the process was interrupted in this way since `since`, or the symptom is a permitted 503. Counts it. */
  explain(url: string, since: number, symptom: Symptom): boolean
  /** Interruptions that have not ended. */
  listOpen(): readonly string[]
  /** Says how many 503 of processes that no fault touches there were, if there were more than the suite permits. */
  listExcess(): readonly string[]
  /** How often each interruption explained a symptom since the last call. */
  takeCounts(): readonly string[]
  close(): void
}>

type Interruption = Readonly<{ reason: string; url: string; symptoms: readonly Symptom[]; from: number }> & {
  /** null = it has not ended. */
  to: number | null
}

/** Permits a few 503 of processes that no fault touches, and only while another process starts. */
export type Overload = Readonly<{
  /** Of the answers of the whole suite. */
  percentMax: number
  reason: string
}>

/**
 * Of suites that start processes again and again: a start takes both cores for seconds, and the others get little of them. Beside
 * two other test files 3 % were seen.
 */
export const STARTS_TAKE_CORES: Overload = { percentMax: 5, reason: 'a starting process takes the cores' }

type Options = Readonly<{
  isServing?: (url: string) => Promise<boolean>
  /** How long a process must be ready: it measures its load over a second, so it may be ready, and then not. */
  steadyMs?: number
  overload?: Overload | undefined
}>

const STEADY_MS = 2_000
const LOOK_MS = 100
const TIMEOUT_MS = 5_000

export function createInterruptions({
  isServing = isServingNow,
  steadyMs = STEADY_MS,
  overload,
}: Options = {}): Interruptions {
  const all: Interruption[] = []
  const counts = new Map<string, number>()
  let [startsOpen, lastStartAt] = [0, 0]
  let [answers, overloaded] = [0, 0]
  let isClosed = false

  const endWhenServing = async (one: Interruption) => {
    let readySince: number | null = null
    while (!isClosed && (readySince === null || Date.now() < readySince + steadyMs)) {
      readySince = (await isServing(one.url)) ? (readySince ?? Date.now()) : null
      await delay(LOOK_MS)
    }
    one.to = Date.now()
  }

  /** The reason, if a process was starting since `since`. After a start, the load of the last second is measured on. */
  const findOverload = (since: number, symptom: Symptom): string | null => {
    const isStarting = startsOpen > 0 || lastStartAt + steadyMs >= since
    if (symptom !== '503' || overload === undefined || !isStarting) return null
    overloaded++
    return overload.reason
  }

  return {
    begin(reason, urls, symptoms) {
      const begun = urls.map((url): Interruption => ({ reason, url, symptoms, from: Date.now(), to: null }))
      all.push(...begun)
      return () => {
        for (const one of begun) void endWhenServing(one)
      }
    },
    noteStart() {
      startsOpen++
      return () => {
        startsOpen--
        lastStartAt = Date.now()
      }
    },
    countAnswer: () => void answers++,
    explain(url, since, symptom) {
      const one = all.findLast(
        (other) => other.url === url && other.symptoms.includes(symptom) && endOf(other) >= since,
      )
      const reason = one?.reason ?? findOverload(since, symptom)
      if (reason === null) return false
      const label = `${symptom} of ${url}: ${reason}`
      counts.set(label, (counts.get(label) ?? 0) + 1)
      return true
    },
    listOpen: () =>
      all.filter(({ to }) => to === null).map(({ reason, url }) => `${url} is not ready since: ${reason}`),
    listExcess() {
      const { percentMax = 0 } = overload ?? {}
      if (overloaded <= Math.ceil((answers * percentMax) / 100)) return []
      return [`processes that no fault touches answered ${overloaded} requests with 503, and ${answers} otherwise`]
    },
    takeCounts() {
      const lines = [...counts].map(([label, count]) => `${count} times ${label}`)
      counts.clear()
      return lines
    },
    close: () => {
      isClosed = true
    },
  }
}

const endOf = ({ to }: Interruption): number => to ?? Number.POSITIVE_INFINITY

/** Whether a process reports that it is ready, and answers 404 for an unknown exchange, which requires the database. */
async function isServingNow(url: string): Promise<boolean> {
  const read = async (path: string): Promise<number> => {
    const headers = { 'x-api-key': 'sandbox', connection: 'close' }
    const reply = await fetch(url + path, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) })
    await reply.arrayBuffer()
    return reply.status
  }
  try {
    const statuses = [await read('/health/ready'), await read(`/v1/cross-chain/exchange/status?id=${randomUUID()}`)]
    return statuses.join() === '200,404'
  } catch {
    // It does not listen yet, or does not answer.
    return false
  }
}
