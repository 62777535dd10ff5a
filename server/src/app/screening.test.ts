import { expect, test } from 'vitest'
import { networks as definitions } from '../../networks/index.ts'
import { createAddresses } from '../adapters/chains/bitcoin/address.ts'
import { resolveNetwork } from '../core/domain/network.ts'
import { present } from '../lib/assert.ts'
import { createScreening } from './screening.ts'

const networks = new Map(
  ['btc', 'ltc', 'bch'].map((id) => {
    const definition = present(
      definitions.find((one) => one.id === id),
      id,
    )
    const keys = { publicKey: () => new Uint8Array(33) }
    return [id, { addresses: createAddresses(resolveNetwork(definition, 'production'), keys) }] as const
  }),
)
const screen = (denied: string, network: string, address: string) =>
  createScreening([denied], networks).screen({ network, address, direction: 'recipient' })

const vitalik = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'
// CashAddr specification, "Examples of address translation".
const [legacy, cashAddr] = [
  '1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu',
  'bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a',
]

test('denies an EVM account on every EVM network, in any case', async () => {
  expect(await screen(`eth:${vitalik}`, 'base', vitalik.toLowerCase())).toBe('block')
  expect(await screen(`eth:${vitalik.toLowerCase()}`, 'eth', vitalik)).toBe('block')
  expect(await screen(`eth:${vitalik}`, 'eth', `0x${'1'.repeat(40)}`)).toBe('allow')
})

test('denies an account of Sui in any case', async () => {
  const account = `0x${'aB'.repeat(32)}`
  expect(await screen(`sui:${account}`, 'sui', account.toLowerCase())).toBe('block')
  expect(await screen(`sui:${account}`, 'sui', `0x${'1'.repeat(64)}`)).toBe('allow')
  expect(() => createScreening(['sui:0x2'], networks)).toThrow('screening.denied.0 is not an address on sui')
})

test('denies an account of Solana, whose case counts', async () => {
  // The mint of wrapped SOL, as an address that everyone knows.
  const account = 'So11111111111111111111111111111111111111112'
  expect(await screen(`sol:${account}`, 'sol', account)).toBe('block')
  expect(await screen(`sol:${account}`, 'sol', account.replace('S', 's'))).toBe('allow')
  expect(() => createScreening(['sol:0xnot-an-address'], networks)).toThrow(
    'screening.denied.0 is not an address on sol',
  )
})

test('denies an address in every encoding', async () => {
  const [, withoutPrefix = ''] = cashAddr.split(':')
  expect(await screen(`bch:${cashAddr}`, 'bch', withoutPrefix)).toBe('block')
  expect(await screen(`bch:${withoutPrefix.toUpperCase()}`, 'bch', cashAddr)).toBe('block')
})

test('denies the same key on the other networks of its family', async () => {
  expect(await screen(`btc:${legacy}`, 'bch', cashAddr)).toBe('block')
})

test('refuses an entry that is not an address, with its position', () => {
  expect(() => createScreening([`eth:${vitalik}`, 'eth:0x12'], networks)).toThrow(
    'screening.denied.1 is not an address on eth',
  )
  expect(() => createScreening([`btc:${vitalik}`], networks)).toThrow('screening.denied.0 is not an address on btc')
  expect(() => createScreening(['xrp:anything'], networks)).not.toThrow()
})
