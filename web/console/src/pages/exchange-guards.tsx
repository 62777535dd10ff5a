import { Text } from '@mantine/core'
import { Amount, Dimmed, Facts, NONE, Status, Time } from '../format/values.tsx'
import { RowList } from '../lists/rows.tsx'
import type { Guards as Limits, Move } from './exchange-details.ts'

/** What bounds the quote, and how far prices are from it. */
export function Guards({ guards, currency }: Readonly<{ guards: Limits; currency: string }>) {
  const { fixedUntil, includedBy, tolerancePercent, leastPercent, maxAmount, price } = guards
  const moves = [...price.whenHeld, ...(price.now ?? [])]
  return (
    <>
      <Facts
        items={[
          ['Fixed rate, first seen until', fixedUntil && <Time at={fixedUntil} />],
          ['Fixed rate, in a block until', includedBy && <Time at={includedBy} />],
          ['Tolerance of the fixed rate', tolerancePercent && `${tolerancePercent} % of the ordered amount`],
          ['Otherwise at least', leastPercent && `${leastPercent} % of the quote, or a refund`],
          [
            'Maximum at the create',
            maxAmount === null ? 'none' : <Amount key="max" value={maxAmount} currency={currency} />,
          ],
          ['Price guard of floating rates', price.allowedPercent && `${price.allowedPercent} % from the quote`],
        ]}
      />
      {moves.length === 0 ? (
        <Text size="sm">The price guard compares nothing now, and has held nothing.</Text>
      ) : (
        <RowList
          rows={moves}
          label="Price guard"
          rowKey={(move) => `${move.at ?? 'now'} ${move.deposit} ${move.currency}`}
          columns={[
            { title: 'When', cell: (move) => <When {...move} /> },
            { title: 'Deposit', cell: ({ deposit }) => deposit ?? 'of the ordered amount' },
            { title: 'Quoted', isNumber: true, cell: (row) => <Amount value={row.quoted} currency={row.currency} /> },
            { title: 'Price', isNumber: true, cell: (row) => <Amount value={row.current} currency={row.currency} /> },
            {
              title: 'Distance',
              isNumber: true,
              cell: ({ movePercent: percent }) => (percent ? `${percent} %` : NONE),
            },
            { title: 'Allowed', isNumber: true, cell: (row) => `${row.allowedPercent ?? price.allowedPercent} %` },
          ]}
        />
      )}
    </>
  )
}

const When = ({ at, isFar, current }: Move) => {
  if (at !== undefined)
    return (
      <>
        <Time at={at} /> <Status value="held" />
      </>
    )
  if (current === null) return <Dimmed>now: there is no current price</Dimmed>
  return <>now: {isFar ? 'too far' : 'within the limit'}</>
}
