import { formatUnits } from '../domain/amount.ts'
import type { AssetId } from '../domain/asset.ts'
import { AppError } from '../domain/errors.ts'
import { partnerAccount } from '../domain/ledger/entries.ts'
import type { Partner } from '../domain/partner.ts'
import type { Ledger } from '../ports/store/ledger.ts'
import type { Movement, StatementStore } from '../ports/store/statements.ts'

export type MovementKind = 'exchangeFee' | 'swapFee' | 'proceeds' | 'converted' | 'paidOut' | 'other'
type AssetName = Readonly<{ currency: string; network: string }>
export type BalanceView = AssetName & Readonly<{ amount: string }>
export type MonthlyPayoutView = AssetName &
  Readonly<{ minimum: string; address: string; memo: string | null; convertsOthers: boolean }>
export type MovementView = AssetName &
  Readonly<{ date: string; kind: MovementKind; credited: string; debited: string; count: number }>

/** What a partner reads about itself. */
export type PartnerAccount = Readonly<{
  balances(partner: Partner): Promise<readonly BalanceView[]>
  monthlyPayouts(partner: Partner): Promise<readonly MonthlyPayoutView[]>
  /** Days in UTC, both inclusive. Throws VALIDATION_ERROR for a period that is none or too long. */
  statement(partner: Partner, from: string, to: string): Promise<readonly MovementView[]>
  countOpenExchanges(partner: Partner): Promise<number>
}>

export type PartnerAccountDeps = Readonly<{
  ledger: Pick<Ledger, 'balances'>
  statements: StatementStore
  /** Decimals of listed currencies, and of tokens in which fees were paid; other assets are absent. */
  readDecimals(assetIds: readonly AssetId[]): Promise<ReadonlyMap<AssetId, number>>
  countOpen(partnerId: string, most: number): Promise<number>
}>

const DAYS_MAX = 366
const DAY_MS = 86_400_000

/** The events of the journal that book on the account of a partner; a reversal has the kind of what it reverses. */
const kinds: readonly (readonly [event: string, kind: MovementKind])[] = [
  ['conversion', 'exchangeFee'],
  ['swap fee final', 'swapFee'],
  ['credited to partner', 'proceeds'],
  ['balance converted', 'converted'],
  ['pay-out', 'paidOut'],
  ['swap fees paid', 'paidOut'],
]

export function createPartnerAccount(deps: PartnerAccountDeps): PartnerAccount {
  const { ledger, statements, countOpen } = deps
  return {
    async balances({ id }) {
      const owed = [...(await ledger.balances(partnerAccount(id)))].sort(([a], [b]) => (a < b ? -1 : 1))
      // A liability is a negative balance.
      const write = await readWriter(
        deps,
        owed.map(([assetId]) => assetId),
      )
      return owed.map(([assetId, units]) => ({ ...nameOf(assetId), amount: write(assetId, -units) }))
    },
    async monthlyPayouts({ id }) {
      const settings = await statements.monthlySettings(id)
      const write = await readWriter(
        deps,
        settings.map(({ assetId }) => assetId),
      )
      return settings.map(({ assetId, minimumUnits, ...recipient }) => ({
        ...nameOf(assetId),
        minimum: write(assetId, minimumUnits),
        ...recipient,
      }))
    },
    async statement({ id }, from, to) {
      checkPeriod(from, to)
      const movements = await statements.movements(id, from, to)
      const write = await readWriter(
        deps,
        movements.map(({ assetId }) => assetId),
      )
      return movements.map((movement) => viewOf(write, movement))
    },
    countOpenExchanges: ({ id, openExchangesMax }) => countOpen(id, openExchangesMax),
  }
}

function checkPeriod(from: string, to: string): void {
  const problems = (
    [
      ['from', from],
      ['to', to],
    ] as const
  )
    .filter(([, day]) => !isDay(day))
    .map(([field]) => ({
      code: 'VALIDATION_ERROR' as const,
      field,
      message: `${field} is not a day of the calendar`,
    }))
  if (problems[0]) throw new AppError('VALIDATION_ERROR', problems[0].message, { problems })
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS
  if (days < 0) throw new AppError('VALIDATION_ERROR', 'to is before from: send a later day', { field: 'to' })
  if (days >= DAYS_MAX)
    throw new AppError('VALIDATION_ERROR', `the period is longer than ${DAYS_MAX} days: shorten it`, { field: 'to' })
}

/** `2026-02-31` is none. */
const isDay = (text: string): boolean => {
  const time = Date.parse(text)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

/** `usdt@eth`, or `0x…@eth` of a token that is not listed. */
function nameOf(assetId: AssetId): AssetName {
  const at = assetId.lastIndexOf('@')
  return { currency: assetId.slice(0, at), network: assetId.slice(at + 1) }
}

type Write = (assetId: AssetId, units: bigint) => string

/** Formats amounts of these assets. One read for all: a statement has many rows of many tokens. */
async function readWriter({ readDecimals }: PartnerAccountDeps, assetIds: readonly AssetId[]): Promise<Write> {
  const decimals = await readDecimals([...new Set(assetIds)])
  return (assetId, units) => formatUnits(units, decimals.get(assetId) ?? 0)
}

function viewOf(write: Write, movement: Movement): MovementView {
  const { day, assetId, event, credited, debited, bookings } = movement
  return {
    date: day,
    ...nameOf(assetId),
    kind: kinds.find(([start]) => event.startsWith(start))?.[1] ?? 'other',
    credited: write(assetId, credited),
    debited: write(assetId, debited),
    count: bookings,
  }
}
