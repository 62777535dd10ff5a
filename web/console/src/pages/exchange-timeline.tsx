import { Text } from '@mantine/core'
import { nameOf } from '../actions/outcome.tsx'
import { Status, Time } from '../format/values.tsx'
import classes from './exchange.module.css'
import type { Event } from './exchange-details.ts'

const toText = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value))

/** Events in order, each with the facts that were stored with it. */
export const Timeline = ({ events }: Readonly<{ events: readonly Event[] }>) => (
  <ol className={classes['timeline']}>
    {events.map(({ at, event, status, reason, detail }, n) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: events are only appended
      <li key={n}>
        <Text size="sm" component="div">
          <Time at={at} /> <strong>{event}</strong> {status !== null && <Status value={status} />} {reason}
        </Text>
        {Object.entries(detail ?? {}).map(([name, value]) => (
          <Text key={name} size="xs" c="dimmed" className={classes['detail']}>
            {nameOf(name)}: {toText(value)}
          </Text>
        ))}
      </li>
    ))}
  </ol>
)
