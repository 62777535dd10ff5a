import type { Texts } from './texts.ts'

export const de: Texts = {
  language: 'Deutsch',
  languages: 'Sprache',
  heading: 'Tausch von {from} in {to}',
  statuses: {
    pending: 'Wartet auf Ihre Zahlung',
    confirming: 'Zahlung erkannt',
    verifying: 'Angehalten',
    exchanging: 'Wird getauscht',
    sending: 'Auszahlung gesendet',
    refunding: 'Rückerstattung läuft',
    finished: 'Abgeschlossen',
    refunded: 'Zahlung zurückerstattet',
    failed: 'Geschlossen',
  },
  now: {
    pending: 'Senden Sie {amount} an die Adresse unten. Alles Weitere geschieht automatisch.',
    confirming: 'Ihre Zahlung wurde erkannt. Sie wird getauscht, sobald das Netzwerk sie bestätigt hat.',
    verifying: 'Der Tausch ist angehalten. Sie müssen nichts tun, es sei denn, diese Seite bittet Sie darum.',
    exchanging: 'Ihre Zahlung ist bestätigt. Sie wird getauscht, und die Auszahlung wird vorbereitet.',
    sending:
      'Die Auszahlung ist auf dem Weg zur Empfängeradresse. Sie ist abgeschlossen, wenn das Netzwerk sie bestätigt hat.',
    refunding: 'Ihre Zahlung wird abzüglich der Netzwerkgebühr zurückerstattet.',
    finished: 'Die Auszahlung ist an der Empfängeradresse angekommen und bestätigt.',
    refunded: 'Ihre Zahlung wurde abzüglich der Netzwerkgebühr zurückerstattet, und das Netzwerk hat das bestätigt.',
    failed: 'Dieser Tausch ist geschlossen.',
  },
  timeOver: {
    heading: 'Die Zahlungsfrist ist abgelaufen',
    now: 'Nach Zahlungen, die vorher gesendet wurden, wird noch gesucht.',
  },
  paymentVanished:
    'Ihre Zahlung ist nicht mehr in der Blockchain. Suchen Sie sie in Ihrer Wallet, bevor Sie noch einmal zahlen.',
  credited:
    'Der Tausch ist abgeschlossen. Der Erlös wurde bei dem Dienst gutgeschrieben, bei dem Sie den Tausch begonnen haben.',
  reasons: {
    EXPIRED: 'Es ist keine Zahlung rechtzeitig angekommen.',
    BELOW_MIN: 'Die Zahlung lag unter dem Mindestbetrag dieses Tauschs.',
    ABOVE_MAX: 'Die Zahlung lag über dem Betrag, der im Moment getauscht werden kann.',
    OUTSIDE_TOLERANCE:
      'Die Zahlung kam zu spät oder mit einem anderen Betrag, und der aktuelle Kurs weicht zu weit vom Festkurs ab.',
    NO_LIQUIDITY: 'Die Zahlung konnte nicht getauscht werden.',
    DUST: 'Die Zahlung ist zu klein, um die Netzwerkgebühr der Rückerstattung zu decken.',
    LATE_DEPOSIT: 'Die Zahlung kam an, nachdem der Tausch beendet war.',
    WRONG_ASSET: 'Die Zahlung erfolgte in einer anderen Währung als der dieses Tauschs.',
    NOT_RECEIVED: 'Das Netzwerk hat eine Zahlung gemeldet, aber es ist nichts angekommen.',
    PRICE_GUARD:
      'Der Preis hat sich weit vom Angebot entfernt. Der Tausch geht weiter, wenn der Preis zurückgekehrt ist oder unser Team entschieden hat.',
    REFUND_ADDRESS_REQUIRED:
      'Die Zahlung muss zurückerstattet werden, und es ist keine Rückerstattungsadresse bekannt.',
    DEPOSIT_VANISHED:
      'Ihre Zahlung ist nicht mehr in der Blockchain. Sie wird bearbeitet, wenn das Netzwerk sie wieder bestätigt.',
    REORG_AFTER_PAYOUT: 'Ihre Zahlung ist nach der Auszahlung aus der Blockchain verschwunden. Unser Team prüft das.',
    PAYOUT_VANISHED: 'Die ausgehende Zahlung ist nicht mehr in der Blockchain. Sie wird erneut gesendet.',
    LIMIT: 'Der Betrag liegt über einem Limit. Unser Team prüft ihn vor der Auszahlung.',
    OPERATOR: 'Unser Team prüft diesen Tausch.',
    NETWORK_UNAVAILABLE:
      'Eines der Netzwerke dieses Tauschs ist gerade nicht verfügbar. Der Tausch geht weiter, sobald es wieder verfügbar ist.',
    CANCELLED: 'Der Tausch wurde abgebrochen.',
  },
  decided: 'Das hat unser Team entschieden.',
  doNotPay: 'Senden Sie nichts mehr an die Einzahlungsadresse dieses Tauschs.',
  steps: {
    heading: 'Fortschritt',
    payment: 'Zahlung',
    confirmations: 'Bestätigungen',
    exchange: 'Tausch',
    payout: 'Auszahlung',
    refund: 'Rückerstattung',
  },
  confirmations: { one: '{seen} von {needed} Bestätigung', other: '{seen} von {needed} Bestätigungen' },
  expectedDuration: 'Voraussichtliche Dauer',
  deadlines: 'Fristen',
  fixedEnds: 'Der Festkurs endet in',
  fixedNote:
    'Der Kurs ist fest für eine Zahlung, die vorher erkannt und bald danach bestätigt wird: Zahlen Sie mit einer üblichen Netzwerkgebühr. Für eine spätere Zahlung gilt der feste oder der aktuelle Kurs, je nachdem, bei welchem Sie weniger erhalten. Ist der Unterschied zu groß, wird die Zahlung abzüglich der Netzwerkgebühr zurückerstattet.',
  fixedOver:
    'Der Festkurs ist abgelaufen. Für eine Zahlung gilt jetzt der feste oder der aktuelle Kurs, je nachdem, bei welchem Sie weniger erhalten. Ist der Unterschied zu groß, wird die Zahlung abzüglich der Netzwerkgebühr zurückerstattet.',
  expires: 'Verbleibende Zahlungsfrist',
  expiryNote:
    'Eine Zahlung, die später ankommt, wird nicht getauscht. Sie wird abzüglich der Netzwerkgebühr zurückerstattet.',
  floatingNote:
    'Der Kurs ist nicht fest. Der Betrag, den Sie erhalten, wird berechnet, wenn Ihre Zahlung bestätigt ist.',
  pay: {
    heading: 'Ihre Zahlung',
    amount: 'Betrag',
    network: 'Netzwerk',
    onlyThis: 'Senden Sie nur {currency} und nur im Netzwerk {network}. Alles andere kann verloren gehen.',
    address: 'Einzahlungsadresse',
    memo: 'Die Zahlung muss diese Angabe enthalten: {memo}. Ohne sie kann die Zahlung Ihrem Tausch nicht zugeordnet werden und kann verloren gehen.',
    qr: 'QR-Code der Einzahlungsadresse',
    openWallet: 'In einer Wallet öffnen',
    copy: 'Kopieren',
    copied: 'Kopiert',
  },
  details: {
    heading: 'Einzelheiten',
    youSend: 'Sie senden',
    youGet: 'Sie erhalten etwa',
    youGetFixed: 'Sie erhalten',
    recipient: 'Empfängeradresse',
    creditedToService: 'Der Erlös wird bei dem Dienst gutgeschrieben, bei dem Sie den Tausch begonnen haben.',
    refundAddress: 'Rückerstattungsadresse',
    created: 'Erstellt',
    id: 'Tausch-ID',
    linkNote: 'Wer die Adresse dieser Seite hat, kann diesen Tausch sehen.',
    privateNote:
      'Wer die Adresse dieser Seite hat, kann beide Seiten dieses privaten Tauschs sehen: Behalten Sie sie für sich. Ein Block-Explorer, in dem Sie beide Transaktionen öffnen, kann sie miteinander verknüpfen.',
  },
  deposits: {
    heading: 'Zahlungen',
    number: 'Zahlung {number}',
    status: 'Status',
    received: 'Erhalten',
    paidOut: 'Ausgezahlt',
    sentBack: 'Zurückerstattet',
    payin: 'Ihre Transaktion',
    payout: 'Auszahlungstransaktion',
    refund: 'Rückerstattungstransaktion',
  },
  refund: {
    heading: 'Wohin soll Ihre Zahlung zurückerstattet werden?',
    intro:
      'Ihre Zahlung wird abzüglich der Netzwerkgebühr zurückerstattet. Geben Sie eine eigene Adresse ein, die {currency} im Netzwerk {network} annimmt.',
    warning:
      'Prüfen Sie die Adresse sorgfältig. Sie können sie nur einmal angeben, und eine Zahlung an eine falsche Adresse ist verloren.',
    address: 'Rückerstattungsadresse',
    memoHint: 'Lassen Sie dieses Feld leer, wenn Ihre Adresse keine solche Angabe braucht.',
    next: 'Weiter',
    confirmHeading: 'Ist diese Adresse richtig?',
    confirmNote: 'Ihre Zahlung wird an diese Adresse gesendet. Danach können Sie sie nicht mehr ändern.',
    confirm: 'Ja, an diese Adresse senden',
    change: 'Adresse ändern',
    askService:
      'Wenden Sie sich an den Dienst, bei dem Sie den Tausch begonnen haben: Er muss eine Rückerstattungsadresse angeben.',
  },
  refundErrors: {
    invalid: 'Das ist keine gültige Adresse im Netzwerk {network}.',
    invalidPrivate:
      'Das ist keine gültige Adresse im Netzwerk {network}, oder sie gehört dem Empfänger, den eine Rückerstattung preisgeben würde.',
    memoRequired: 'Diese Adresse braucht diese Angabe: {memo}.',
    memoInvalid: 'Diese Angabe ist nicht gültig: {memo}.',
    ours: 'Das ist eine Adresse dieses Dienstes. Geben Sie eine Adresse Ihrer eigenen Wallet ein.',
    restricted: 'Diese Adresse kann nicht verwendet werden. Geben Sie eine andere ein.',
    alreadyNamed: 'Eine Rückerstattungsadresse ist bereits angegeben und kann nicht geändert werden.',
    failed: 'Das hat nicht funktioniert. Versuchen Sie es gleich noch einmal.',
  },
  failures: {
    notFound: 'Diese Seite gibt es nicht',
    notFoundNote: 'Prüfen Sie den Link. Vielleicht fehlt ein Teil.',
    tooMany: 'Zu viele Anfragen',
    tooManyNote: 'Warten Sie eine Minute und laden Sie die Seite dann neu.',
    unavailable: 'Der Dienst antwortet nicht',
    unavailableNote: 'Versuchen Sie es gleich noch einmal. Ihr Tausch läuft inzwischen weiter.',
  },
}
