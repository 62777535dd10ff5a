import { expect, test } from 'vitest'
import { findGuessableIds } from './guessable-ids.ts'

const deposits = [
  { network: 'btc', identity: '7a0b:0' },
  { network: 'ltc', identity: '7a0b:1' },
]

// The digests are those of md5sum, sha1sum and sha256sum.
test.each([
  ['md5 of network and identity, as a UUID', 'id 718dd9a8-74c7-21cb-1768-561097c36b5e,', '718dd9a8-74c7'],
  ['SHA-1 of the identity, as a digest', 'bfa8ee18efabec48a4bb599486c57a325afd2717', 'bfa8ee18efab'],
  ['SHA-256 of the second leg after two payouts, behind 0x', '{"h":"0x1a7677d5b1ec268e10ab1af5"}', '1a7677d5b1ec'],
])('an id that is the %s is found', (_, text, found) => {
  expect(findGuessableIds(text, deposits)).toEqual([found])
})

test('an id of another deposit is not found', () => {
  expect(findGuessableIds('718dd9a8-74c7-21cb-1768-561097c36b5e', deposits.slice(1))).toEqual([])
})
