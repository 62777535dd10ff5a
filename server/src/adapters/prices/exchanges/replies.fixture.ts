import type { ExchangeId } from './index.ts'

/*
 * Replies in the form of each exchange's documentation, cut to a few pairs. Their entries are recorded: those of Kraken, Bitstamp, OKX
 * and KuCoin on 27 July 2026, with the numbers that KuCoin, Bitstamp and OKX stated as their times (a public test suite of an oracle
 * on GitHub), Bitfinex's in its documentation and a client library, Binance's in its documentation. Prices of SHIB and PEPE are in the
 * same form with numbers of our own, because recorded replies lack them.
 */

/** The times of the replies: of OKX's last pair, and in whole seconds of Bitstamp's. */
export const RECORDED_AT = 1_785_145_938_000

export const replies: Readonly<Record<ExchangeId, string>> = {
  kraken: `{"error":[],"result":{
    "XXBTZUSD":{"a":["65232.00000","1","1.000"],"b":["65231.90000","1","1.000"],"c":["65231.80000","0.00802897"],"v":["533.73252072","2539.33630153"],"p":["65223.45636","65277.73296"],"t":[2108,11581],"l":["64532.80000","64532.80000"],"h":["65700.00000","65785.00000"],"o":"65013.16841"},
    "XETHZUSD":{"a":["1965.60000","1","1.000"],"b":["1965.40000","2","2.000"],"c":["1965.40000","0.19000000"],"o":"1910.00000"},
    "USDTZUSD":{"a":["0.99910000","1","1.000"],"b":["0.99900000","1","1.000"],"c":["0.99908000","500.00000000"],"o":"0.99920000"},
    "XDGUSD":{"a":["0.072640000","1","1.000"],"b":["0.072630000","1","1.000"],"c":["0.072637900","100.00000000"],"o":"0.071000000"},
    "WBTCUSD":{"a":["64970.00000","1","1.000"],"b":["64950.00000","1","1.000"],"c":["64962.30000","0.00100000"],"o":"64000.00000"},
    "PEPEUSD":{"a":["0.000004021","1","1.000"],"b":["0.000004018","1","1.000"],"c":["0.000004020","1.00000"],"o":"0.000003900"},
    "RHEAUSD":{"a":["0.034000000","16015","16015.000"],"b":["0.004470000","2238","2238.000"],"c":["0.000000000","0.00000"],"v":["0.00000","0.00000"]}}}`,
  bitstamp: `[
    {"timestamp":"1785145936","open":"1.83391","high":"1.85494","low":"1.78772","last":"1.84115","volume":"57747.186","vwap":"1.82183","bid":"1.84541","ask":"1.84797","side":"1","open_24":"1.79957","percent_change_24":"2.31","market_type":"SPOT","pair":"NEAR/USD","market":"NEAR/USD"},
    {"timestamp":"1785145937","open":"64000","high":"65500","low":"63800","last":"65236.60","volume":"100.0","vwap":"64900","bid":"65236","ask":"65237","side":"1","open_24":"64000","percent_change_24":"1.9","market_type":"SPOT","pair":"BTC/USD","market":"BTC/USD"},
    {"timestamp":"1785145937","open":"0.9999","high":"1.0001","low":"0.9998","last":"0.99991","volume":"1000.0","vwap":"0.9999","bid":"0.99990","ask":"0.99992","side":"1","open_24":"0.9999","percent_change_24":"0.0","market_type":"SPOT","pair":"USDC/USD","market":"USDC/USD"}
  ]`,
  bitfinex: `[
    ["tBTCUSD",101530,39.76548266,101540,32.24226311,2680,0.0271063,101550,661.88869229,102760,98740],
    ["tUSTUSD",0.99915,1234567.89,0.99931,2345678.9,0.0001,0.0001,0.9993,5000000.1,1.0001,0.999],
    ["tSHIB:USD",0.000012051,1500000000.5,0.000012089,2100000000.25,-1e-7,-0.0082,0.00001207,800000000000.1,0.0000125,0.0000119],
    ["tPEPE:USD",9.87e-7,1500000000.5,9.89e-7,2100000000.25,-1e-8,-0.0082,9.88e-7,8e+12,0.000001,9e-7],
    ["fUSD",0.000180427397260274,0.0002,120,35441993.51575242,0.00008219,2,39208.22419296,-0.00005519,-0.5017,0.00005481,406448929.8255126,0.000137,0.000024,null,null,5863426.35928275]
  ]`,
  binance: `[
    {"symbol":"LTCBTC","bidPrice":"4.00000000","bidQty":"431.00000000","askPrice":"4.00000200","askQty":"9.00000000"},
    {"symbol":"ETHBTC","bidPrice":"0.07946700","bidQty":"9.00000000","askPrice":"100000.00000000","askQty":"1000.00000000"},
    {"symbol":"BTCUSDT","bidPrice":"33327.43000000","bidQty":"0.21337300","askPrice":"33327.44000000","askQty":"0.71420300"},
    {"symbol":"PEPEUSDT","bidPrice":"0.00000402","bidQty":"431.00","askPrice":"0.00000403","askQty":"9.00"},
    {"symbol":"XMRUSDT","bidPrice":"0.00000000","bidQty":"0.00000000","askPrice":"0.00000000","askQty":"0.00000000"}
  ]`,
  okx: `{"code":"0","msg":"","data":[
    {"instType":"SPOT","instId":"NEAR-USDT","last":"1.848","lastSz":"87.61588489","askPx":"1.849","askSz":"58.9233146","bidPx":"1.848","bidSz":"7289.11660123","open24h":"1.804","high24h":"1.86","low24h":"1.788","volCcy24h":"2557750.61131517111","vol24h":"1398101.93602604","ts":"1785145938266","sodUtc0":"1.839","sodUtc8":"1.804"},
    {"instType":"SPOT","instId":"USDT-USD","last":"0.999","askPx":"0.9991","bidPx":"0.9989","volCcy24h":"7986750.58085619","ts":"1785145938265"},
    {"instType":"SPOT","instId":"BTC-USDT","last":"65304","askPx":"65305","bidPx":"65304","volCcy24h":"226982596.186413857","ts":"1785145938264"}
  ]}`,
  kucoin: `{"code":"200000","data":{"time":1785143386586,"ticker":[
    {"symbol":"ETH-USDT","symbolName":"ETH-USDT","buy":"1958.49","bestBidSize":"5.8034879","sell":"1958.5","bestAskSize":"4.8345166","last":"1958.5","averagePrice":"1885.68524206"},
    {"symbol":"NEAR-USDT","symbolName":"NEAR-USDT","buy":"1.8376","bestBidSize":"163.4058","sell":"1.8378","bestAskSize":"67.5","last":"1.8377","averagePrice":"1.7966811"}
  ]}}`,
}
