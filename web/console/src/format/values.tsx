import { Anchor, Badge, CopyButton, Group, Text, UnstyledButton } from '@mantine/core'
import { Fragment, type ReactNode } from 'react'
import { Link } from 'react-router'
import classes from './values.module.css'

/** Shown for null. */
export const NONE = '–'

/** An amount in coins as the API has it: never through a number, which would round it. */
export function Amount({ value, currency }: Readonly<{ value: string | null; currency?: string | null }>) {
  if (value === null) return NONE
  return (
    <span className={classes['amount']}>
      {groupDigits(value)}
      {currency && <span className={classes['currency']}> {currency}</span>}
    </span>
  )
}

/** Thin spaces between thousands before the point. */
export function groupDigits(value: string): string {
  const [whole = '', fraction] = value.split('.')
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, '\u2009')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

/** In UTC, as logs and the audit log have it. `mayWrap`: on two lines where it must. */
export function Time({ at, mayWrap = false }: Readonly<{ at: string | null; mayWrap?: boolean }>) {
  if (at === null) return NONE
  return (
    <time dateTime={at} title={`${at} (${distance(at)})`} className={mayWrap ? undefined : classes['time']}>
      <span className={classes['time']}>{at.slice(0, 10)}</span>{' '}
      <span className={classes['time']}>{at.slice(11, 19)}</span>
    </time>
  )
}

/** The type of an event, such as `exchange.refund_address_required`, which may wrap between its parts. */
export const EventType = ({ type }: Readonly<{ type: string }>) =>
  type.split(/(?<=[._])/).map((part) => (
    <Fragment key={part}>
      {part}
      <wbr />
    </Fragment>
  ))

/** A text whose words may wrap, too. */
export const FreeText = ({ text }: Readonly<{ text: string }>) => <span className={classes['free']}>{text}</span>

const UNITS = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
] as const

export function duration(seconds: number): string {
  for (const [size, unit] of UNITS) if (seconds >= size) return `${Math.floor(seconds / size)} ${unit}`
  return `${Math.max(0, Math.floor(seconds))} s`
}

export const age = (at: string): string => duration((Date.now() - Date.parse(at)) / 1000)

function distance(at: string): string {
  const seconds = (Date.now() - Date.parse(at)) / 1000
  return seconds < 0 ? `in ${duration(-seconds)}` : `${duration(seconds)} ago`
}

export const Age = ({ at }: Readonly<{ at: string | null }>) =>
  at === null ? (
    NONE
  ) : (
    <time dateTime={at} title={at} className={classes['time']}>
      {age(at)} ago
    </time>
  )

const SHORT_MAX = 20
const shorten = (text: string): string => (text.length > SHORT_MAX ? `${text.slice(0, 8)}…${text.slice(-8)}` : text)

type HashProps = Readonly<{ text: string | null; url?: string | null; isWhole?: boolean }>

/** A hash, an address or an id, with its page at an explorer and a button that copies it. */
export function Hash({ text, url = null, isWhole = false }: HashProps) {
  if (text === null || text === '') return NONE
  const shown = (
    <span className={isWhole ? classes['hash'] : `${classes['hash']} ${classes['short']}`} title={text}>
      {isWhole ? text : shorten(text)}
    </span>
  )
  return (
    <Group gap={4} wrap="nowrap" display="inline-flex" maw="100%">
      {isWebAddress(url) ? (
        <Anchor href={url} target="_blank" rel="noreferrer" underline="always" inherit>
          {shown}
        </Anchor>
      ) : (
        shown
      )}
      <Copy text={text} />
    </Group>
  )
}

/** A link from the server is one to a page, never `javascript:`. */
const isWebAddress = (url: string | null): url is string => url !== null && /^(https?:\/\/|\/(?!\/))/.test(url)

export const Copy = ({ text }: Readonly<{ text: string }>) => (
  <CopyButton value={text}>
    {({ copied, copy }) => (
      <UnstyledButton onClick={copy} aria-label={copied ? 'Copied' : `Copy ${text}`} className={classes['copy']}>
        <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" fill="none" stroke="currentColor">
          {copied ? <path d="M3 8l4 4 6-8" strokeWidth="2" /> : <path d="M5 5V2h9v9h-3M2 5h9v9H2z" strokeWidth="1.5" />}
        </svg>
      </UnstyledButton>
    )}
  </CopyButton>
)

export const ExchangeLink = ({ id }: Readonly<{ id: string | null }>) =>
  id === null ? (
    NONE
  ) : (
    <Anchor
      component={Link}
      to={`/exchanges/${id}`}
      underline="always"
      inherit
      className={`${classes['hash']} ${classes['short']}`}
      title={id}
    >
      {shorten(id)}
    </Anchor>
  )

const colors: Readonly<Record<string, string>> = {
  ...{ finished: 'teal', confirmed: 'teal', done: 'teal' },
  ...{ failed: 'red', critical: 'red', broken: 'red', void: 'gray', rejected: 'red' },
  ...{ active: 'teal', enabled: 'teal', open: 'teal', valid: 'teal', paused: 'orange', suspended: 'orange' },
  ...{ disabled: 'gray', ended: 'gray', expired: 'gray', revoked: 'gray' },
  ...{ verifying: 'orange', warning: 'orange', refunding: 'orange', asked: 'orange', refunded: 'grape' },
}

/** A status word. The color repeats the word. */
export const Status = ({ value }: Readonly<{ value: string }>) => (
  <Badge variant="dot" color={colors[value] ?? 'blue'} className={classes['status']}>
    {value}
  </Badge>
)

/** A list of names and values. Null, undefined and empty texts are left out. */
export function Facts({ items }: Readonly<{ items: readonly (readonly [name: string, value: ReactNode])[] }>) {
  const shown = items.filter(([, value]) => value !== null && value !== undefined && value !== '')
  return (
    <dl className={classes['facts']}>
      {shown.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Any value of the API as text; React escapes it. */
export function Json({ value, label }: Readonly<{ value: unknown; label: string }>) {
  return (
    <section aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard */}
      <pre className={classes['json']} tabIndex={0}>
        {JSON.stringify(value, null, 2)}
      </pre>
    </section>
  )
}

export const Dimmed = ({ children }: Readonly<{ children: ReactNode }>) => (
  <Text span size="sm" c="dimmed">
    {children}
  </Text>
)
