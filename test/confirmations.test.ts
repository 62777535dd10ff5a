import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { networks } from '../server/networks/index.ts'
import { resolveNetwork } from '../server/src/core/domain/network.ts'
import { guardDefaults, requiredConfirmations, requiredFinalityTag, tierUsd } from '../server/src/exchange/settings.ts'

const page = readFileSync(new URL('../docs/lifecycle.md', import.meta.url), 'utf8')
const [section = ''] = (page.split('\n## Confirmations\n')[1] ?? '').split('\n## ')
const USD = 10n ** 12n

/** Confirmations by network, each of the three columns as a number and a finality tag. */
const published = new Map(
  [...section.matchAll(/^\| ([a-z]+) \| (\d.*) \|$/gm)].map(([, network = '', cells = '']) => [
    network,
    cells.split(' | ').map((cell) => /^(\d+)(?:, `(\w+)`)?$/.exec(cell)?.slice(1)),
  ]),
)

/** The families that the program has nodes and wallets for. */
const operated = networks
  .filter(({ family }) => ['bitcoin', 'evm', 'monero'].includes(family))
  .map((definition) => resolveNetwork(definition, 'production'))

test('docs/lifecycle.md has the confirmations of every network, as configured', () => {
  expect([...published.keys()]).toEqual(operated.map(({ id }) => id))
  for (const { id, confirmations, finalityBlocks, evm } of operated) {
    // The largest value of each column; the last one has no largest.
    const configured = [1_000n * USD, 50_000n * USD, null].map((usd) => [
      String(requiredConfirmations(confirmations, finalityBlocks, usd)),
      requiredFinalityTag(evm, usd) ?? undefined,
    ])
    expect(published.get(id), id).toEqual(configured)
  }
})

/** Whole dollars that the page names at this place. */
const dollarsIn = (pattern: RegExp): bigint => BigInt((pattern.exec(section)?.[1] ?? '').replaceAll(',', ''))

test('docs/lifecycle.md has the limits of the columns and of deposits in flight, as configured', () => {
  const tierOf = (usd: bigint | null) => requiredConfirmations(1, 100, usd)
  const small = dollarsIn(/^\| network \| up to \$([\d,]+)/m)
  const middle = dollarsIn(/^\| network \|.*\| up to \$([\d,]+)/m)
  expect([small, small + 1n, middle, middle + 1n].map((usd) => tierOf(usd * USD))).toEqual([1, 2, 2, 4])
  const [second, third] = [dollarsIn(/above \$([\d,]+) in flight/), dollarsIn(/above \$([\d,]+) for the third/)]
  const inFlight = [second, second + 1n, third, third + 1n].map((usd) =>
    tierOf(tierUsd(USD, usd * USD, guardDefaults.inFlightFactor)),
  )
  expect(inFlight).toEqual([1, 2, 2, 4])
})
