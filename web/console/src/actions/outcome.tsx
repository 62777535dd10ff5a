import { Alert, Code, Paper, Stack, Text } from '@mantine/core'
import type { AdminActionResult } from '@swapyard/schema'
import { Copy, Facts, Json } from '../format/values.tsx'
import classes from './actions.module.css'
import { ForecastFacts, type PaymentForecast, type Refund, RefundFacts } from './forecast.tsx'

type Members = Readonly<Record<string, unknown>>

/** `refundAddress` as "Refund address". */
export function nameOf(member: string): string {
  const words = member.replaceAll('_', ' ').replaceAll(/([a-z])([A-Z])/g, '$1 $2')
  return words.charAt(0).toUpperCase() + words.slice(1).toLowerCase()
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
export const listMembers = (members: Members) =>
  Object.entries(members).map(([name, value]) => [nameOf(name), value === null ? null : toText(value)] as const)

/** What an action did or would do: its answer, the rows of the audit log with what they change, and secrets. */
export function Outcome({ outcome: { result, acts, shown } }: Readonly<{ outcome: AdminActionResult }>) {
  const { will, refunds, ...rest } = result
  return (
    <Stack gap="sm">
      {will !== undefined && <ForecastFacts forecast={will as PaymentForecast} />}
      {refunds !== undefined &&
        (refunds as readonly Refund[]).map((refund) => <RefundFacts key={refund.deposit} refund={refund} />)}
      {Object.keys(rest).length > 0 && <Facts items={listMembers(rest)} />}
      {acts.map((row, n) => (
        <AuditRow key={String(row['id'] ?? n)} row={row} />
      ))}
      {Object.keys(shown).length > 0 && (
        <Alert color="orange" title="Shown once: copy it now">
          {Object.entries(shown).map(([name, value]) => (
            <Text size="sm" key={name} style={{ overflowWrap: 'anywhere' }}>
              {nameOf(name)}: <Code>{toText(value)}</Code> <Copy text={toText(value)} />
            </Text>
          ))}
        </Alert>
      )}
    </Stack>
  )
}

function AuditRow({ row }: Readonly<{ row: Members }>) {
  const { act, subject, detail } = row
  const changes = listChanges((row['before'] ?? {}) as Members, (row['after'] ?? {}) as Members)
  return (
    <Paper withBorder p="sm">
      <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
        Audit log: {toText(act)} {toText(subject)}
      </Text>
      {changes.length > 0 && (
        <ul className={classes['change']}>
          {changes.map(({ name, before, after }) => (
            <li key={name}>
              <Text size="sm" span>
                {nameOf(name)}: {before} → <strong>{after}</strong>
              </Text>
            </li>
          ))}
        </ul>
      )}
      {Object.keys((detail ?? {}) as Members).length > 0 && <Json value={detail} label="Facts of this row" />}
    </Paper>
  )
}

type Change = Readonly<{ name: string; before: string; after: string }>

/** Members that differ. */
export function listChanges(before: Members, after: Members): readonly Change[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const show = (value: unknown) => (value === undefined || value === null ? 'none' : toText(value))
  return names
    .map((name) => ({ name, before: show(before[name]), after: show(after[name]) }))
    .filter((change) => change.before !== change.after)
}
