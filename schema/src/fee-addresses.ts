import Type, { type Static } from 'typebox'
import { defiNetworkInput } from './defi-requests.ts'
import { dateTime, objectOrNull, textOrNull } from './scalars.ts'

const address = '0x52908400098527886E0F7030069857D2E4169EE7'
const effective = '2026-11-28T10:00:00.000Z'

export const NextFeeAddress = Type.Object(
  {
    address: Type.String({
      description: 'The new address.',
      examples: ['0x8617E340B3D01FA5F11F306F4090FD50E238070D'],
    }),
    effective: dateTime({ description: 'When it takes effect.', examples: [effective] }),
  },
  { description: 'A fee address that waits.' },
)

export const FeeAddress = Type.Object(
  {
    network: Type.String({ description: 'The network.', examples: ['eth'] }),
    address: textOrNull({
      description:
        'Where builds of swaps send your referrer fees. Null: to an address of ours, and we owe them to you.',
      examples: [address],
    }),
    next: objectOrNull(NextFeeAddress, {
      description: 'A change that has not taken effect; null without one.',
      examples: [null],
    }),
  },
  { description: 'Your fee address on a network.' },
)
export type FeeAddress = Static<typeof FeeAddress>

export const FeeAddressList = Type.Object(
  { data: Type.Array(FeeAddress, { description: 'Networks with an address or a change, in alphabetical order.' }) },
  { description: 'Your fee addresses.' },
)
export type FeeAddressList = Static<typeof FeeAddressList>

export const SetFeeAddressBody = Type.Object(
  {
    network: defiNetworkInput,
    address: Type.String({
      minLength: 1,
      maxLength: 128,
      description:
        'The new address. It takes effect after a delay. The address that is in effect now withdraws a waiting change, and `none` removes both, at once.',
      examples: [address],
    }),
  },
  { description: 'A fee address to set.' },
)
export type SetFeeAddressBody = Static<typeof SetFeeAddressBody>
