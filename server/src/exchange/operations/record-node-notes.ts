import type { NodeNote } from '../../core/ports/chain.ts'
import type { AlarmStore } from '../../core/ports/store/alarms.ts'
import type { Log } from '../../lib/log.ts'

export type NodeNoteDeps = Readonly<{
  alarms: AlarmStore
  log: Log
  onNote(network: string, kind: NodeNote['kind']): void
  /** Milliseconds of any clock. */
  now(): number
}>

export type NodeNotes = Readonly<{
  /** Counts a note. Makes no call, because adapters note in the middle of a read. */
  add(network: string, note: NodeNote): void
  /**
   * Logs the notes since the last turn and raises their alarms. Clears the alarms, also those of other processes, that no process has
   * raised for `QUIET_MS`.
   */
  turn(): Promise<void>
}>

/** An alarm ends after this time without a further note. A process clears none before it has run this long. */
const QUIET_MS = 3_600_000

/** Notes that are not recorded: the newest one, and how many there are. */
type Unrecorded = Readonly<{ network: string; note: NodeNote; count: number }>

const subjects: Readonly<Record<NodeNote['kind'], (network: string) => string>> = {
  'traces-missing': (network) => `traces:${network}`,
  'logs-missing': (network) => `logs:${network}`,
  'logs-disagree': (network) => `disagree:${network}`,
  'receipts-disagree': (network) => `disagree:${network}`,
  'state-pruned': (network) => `pruned:${network}`,
  'nodes-apart': (network) => `apart:${network}`,
}

const meanings: Readonly<Record<NodeNote['kind'], string>> = {
  'traces-missing': 'a block was read without traces',
  'logs-missing': 'a block was read without logs that no reply held',
  'logs-disagree': 'the logs and the receipts of a block disagree',
  'receipts-disagree': 'nodes disagree about the receipt of a transaction of ours',
  'state-pruned': 'a node has pruned a state that was needed',
  'nodes-apart': 'the nodes of a network are too far apart: no swap is sent',
}

const prefixes = Object.values(subjects).map((subjectOf) => subjectOf(''))

/** One alarm per network and kind, however many notes arrive. */
export function createRecordNodeNotes({ alarms, log, onNote, now }: NodeNoteDeps): NodeNotes {
  const startedAt = now()
  const unrecorded = new Map<string, Unrecorded>()

  async function record(subject: string, newest: Unrecorded): Promise<void> {
    const { network, note, count } = newest
    const { kind, node, detail } = note
    await alarms.raise(subject, meanings[kind], { network, node, detail })
    log.warn({ network, note: kind, node, detail, count }, meanings[kind])
    // A note that arrived meanwhile waits for the next turn.
    if (unrecorded.get(subject) === newest) unrecorded.delete(subject)
  }

  return {
    add(network, note) {
      onNote(network, note.kind)
      const subject = subjects[note.kind](network)
      const count = (unrecorded.get(subject)?.count ?? 0) + 1
      unrecorded.set(subject, { network, note, count })
    },
    async turn() {
      for (const [subject, newest] of [...unrecorded]) await record(subject, newest)
      if (now() - startedAt >= QUIET_MS) await alarms.clearUnseen(prefixes, QUIET_MS)
    },
  }
}
