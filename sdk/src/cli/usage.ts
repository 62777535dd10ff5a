export const usage = `swapyard-partner: quotes, exchanges and swaps of a Swapyard server

  quote FROM TO AMOUNT [--flow standard|fixed-rate] [--private-type efficient|privatePlus]
  exchange FROM TO AMOUNT --address ADDRESS [--memo MEMO] [--refund-address ADDRESS] [--refund-memo MEMO]
           [--flow standard|fixed-rate | --private-type efficient|privatePlus] [--no-wait]
           [--idempotency-key KEY [--rate-id ID]]
  status ID [--wait]
  swap NETWORK FROM_TOKEN TO_TOKEN AMOUNT --account ADDRESS [--slippage 0.5] [--referrer-fee 0] [--hash HASH]
  swap --hash HASH

FROM and TO name a currency and its network: btc@btc, usdt@eth. Tokens of swaps are named by their address.
exchange waits for the payment and the payout; --no-wait prints the exchange and ends. Repeated with the same
--idempotency-key (and, at a fixed rate, the same --rate-id), it continues with the exchange of the first run. If
the wait fails after the create, it prints the command that continues: status ID --wait.
swap prints the unsigned transactions. With --hash it tracks a swap until it is final; with the tokens too, it
records a swap that your wallet has broadcast before it tracks it.

  --url URL             the server; default: SWAPYARD_URL, then http://127.0.0.1:8080
  --api-key-file PATH   a file with the API key; default: SWAPYARD_API_KEY. A key is never an argument, because
                        other users of the machine can read arguments
  --timeout SECONDS     the longest wait
  --json                the result as JSON of the API on stdout; progress is on stderr in any case
  --help, --version

Exit codes: 0 done, 1 defect, 2 wrong usage, 3 refused by the API, 4 failed or refunded, 5 not final within
--timeout, 6 no valid answer of the server, or an error of it (408, 5xx).
`
