import { expect, test } from 'vitest'
import type { SwapChain } from '../ports/swap-chain.ts'
import { choosePayable } from './fee-terms.ts'

const [own, operator, token] = ['partner', 'operator', 'coin']
const fee = { token, units: 5n }

/** Terms of a fee where the chain can pay only these addresses; null: the network requires nothing. */
function choose(payable: readonly string[] | null, changes: Readonly<{ feeTo?: string | null; units?: bigint }> = {}) {
  const { feeTo = own, units = fee.units } = changes
  const asked: [string, object][] = []
  const isPayable = async (address: string, payment: object) => {
    asked.push([address, payment])
    return payable?.includes(address) === true
  }
  const chain = {
    ...{ network: { id: 'sol' }, parseAccount: (text: string) => text || null, formatAddress: (text: string) => text },
    ...(payable === null ? {} : { isPayable }),
  } as unknown as SwapChain
  const settings = { feeAddresses: new Map([['sol', operator]]) }
  const terms = { feeTo, owesFee: feeTo === operator }
  return { asked, chosen: choosePayable({ settings }, chain, terms, { token, units }) }
}

test('a fee is paid to the address of the partner where the chain can pay it', async () => {
  const { asked, chosen } = choose([own, operator])
  expect(await chosen).toEqual({ feeTo: own, owesFee: false })
  expect(asked).toEqual([[own, { token, units: 5n, opensAccount: false }]])
  expect(await choose(null).chosen).toEqual({ feeTo: own, owesFee: false })
})

test('a fee that is too small for a new account goes to the operator, who owes it', async () => {
  expect(await choose([operator]).chosen).toEqual({ feeTo: operator, owesFee: true })
})

test('D10: a user opens no account of a token for a partner, and one for the operator', async () => {
  const asked = async (feeTo: string) => {
    const one = choose([operator], { feeTo })
    await one.chosen
    return one.asked
  }
  const ofOperator = [operator, { token, units: 5n, opensAccount: true }]
  expect(await asked(own)).toEqual([[own, { token, units: 5n, opensAccount: false }], ofOperator])
  expect(await asked(operator)).toEqual([ofOperator])
})

test('a fee that no fee address can take is refused, with the field that states it', async () => {
  for (const feeTo of [own, operator])
    await expect(choose([], { feeTo }).chosen).rejects.toMatchObject({
      ...{ code: 'REFERRER_FEE_OUT_OF_RANGE', problems: [{ field: 'referrerFee', min: '0', max: '0' }] },
      message: expect.stringContaining(feeTo),
    })
})

test('a swap with no fee, or with one of nothing, asks nothing', async () => {
  for (const changes of [{ feeTo: null }, { units: 0n }]) {
    const { asked, chosen } = choose([], changes)
    expect((await chosen).feeTo).toBe(changes.feeTo === null ? null : own)
    expect(asked).toEqual([])
  }
})
