/** The pair of the requests below: bitcoin to ether. */
export const pair = { fromCurrency: 'btc', fromNetwork: 'btc', toCurrency: 'eth', toNetwork: 'eth' }

/** A body that `POST /v1/cross-chain/exchange` accepts. */
export const createBody = {
  ...pair,
  fromAmount: '0.01',
  flow: 'standard',
  address: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045',
}
