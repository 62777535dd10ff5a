import type { NodeNote } from '../../core/ports/chain.ts'
import type { AlarmStore } from '../../core/ports/store/alarms.ts'
import type { Log } from '../../lib/log.ts'

export type NodeNoteDeps = Readonly<{
  alarms: AlarmStore
  /** Networks whose alarms an earlier process may have raised. */
  networks: readonly string[]
  log: Log
  onNote(network: string, kind: NodeNote['kind']): void
  /** Milliseconds since 1970. */
  now(): number
}>

export type NodeNotes = Readonly<{
  /** Counts a note. Makes no call, because adapters note in the middle of a read. */
  add(network: string, note: NodeNote): void
  /** Logs the notes since the last turn and raises their alarms; clears alarms without a note for `QUIET_MS`. */
  turn(): Promise<void>
}>

/** An alarm ends after this time without a further note. */
const QUIET_MS = 3_600_000

/** `note` is the newest one that is not recorded, and `count` how many are not. */
type Condition = Readonly<{ network: string; note: NodeNote | null; count: number; at: number }>

const kinds = [
  'traces-missing',
  'logs-missing',
  'logs-disagree',
  'receipts-disagree',
  'state-pruned',
  'nodes-apart',
] as const

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

/** One alarm per network and kind, however many notes arrive. */
export function createRecordNodeNotes({ alarms, networks, log, onNote, now }: NodeNoteDeps): NodeNotes {
  const conditions = new Map<string, Condition>()
  for (const network of networks)
    for (const kind of kinds) conditions.set(subjects[kind](network), { network, note: null, count: 0, at: now() })

  async function report(subject: string, condition: Condition): Promise<void> {
    const { network, note, count } = condition
    if (note === null) {
      if (now() - condition.at < QUIET_MS) return
      await alarms.clear(subject)
      conditions.delete(subject)
      return
    }
    const { kind, node, detail } = note
    await alarms.raise(subject, meanings[kind], { network, node, detail })
    log.warn({ network, note: kind, node, detail, count }, meanings[kind])
    // A note that arrived meanwhile waits for the next turn.
    if (conditions.get(subject) === condition) conditions.set(subject, { ...condition, note: null, count: 0 })
  }

  return {
    add(network, note) {
      onNote(network, note.kind)
      const subject = subjects[note.kind](network)
      const count = (conditions.get(subject)?.count ?? 0) + 1
      conditions.set(subject, { network, note, count, at: now() })
    },
    async turn() {
      for (const [subject, condition] of [...conditions]) await report(subject, condition)
    },
  }
}
