import { expect, test } from 'vitest'
import { createRandom } from '../support/random.ts'
import type { Order, PrivateType } from './customers.ts'
import { drawAdversary } from './draw-order.ts'

const DRAWS = 1_000

/** What each of many adversaries orders and does, without its amounts. */
function listKinds(types: readonly PrivateType[]): ReadonlySet<string> {
  const random = createRandom(1)
  return new Set(Array.from({ length: DRAWS }, () => describeOrder(drawAdversary(0.01, random, types))))
}

const describeOrder = ({ from, flow, privateType, paidAmounts, replacesPayment, cancels }: Order): string =>
  [
    ...['sells', from, privateType ?? flow ?? 'floating'],
    ...(paidAmounts === undefined ? [] : [`pays ${paidAmounts.length} times`]),
    ...(replacesPayment ? ['replaces its payment'] : []),
    ...(cancels === undefined ? [] : [`cancels ${cancels}`]),
  ].join(' ')

test('adversaries sell both coins, replace unconfirmed payments of both, and cancel before and after they pay', () => {
  const kinds = listKinds([])
  for (const kind of [
    'sells btc@btc floating replaces its payment',
    'sells btc@btc fixed-rate replaces its payment',
    'sells eth@eth floating replaces its payment',
    'sells btc@btc floating cancels before paying',
    'sells btc@btc fixed-rate cancels after paying',
    'sells eth@eth fixed-rate cancels before paying',
    'sells eth@eth fixed-rate pays 0 times',
  ])
    expect(kinds).toContain(kind)
  expect([...kinds].filter((kind) => kind.includes('efficient') || kind.includes('privatePlus'))).toEqual([])
})

test('adversaries use the private exchanges that are on offer', () => {
  const kinds = listKinds(['efficient'])
  for (const kind of [
    'sells eth@eth efficient pays 2 times',
    'sells eth@eth efficient cancels after paying',
    'sells btc@btc efficient replaces its payment',
  ])
    expect(kinds).toContain(kind)
})
