import type { Texts } from './texts.ts'

export const fr: Texts = {
  language: 'Français',
  languages: 'Langue',
  heading: 'Échange de {from} contre {to}',
  statuses: {
    pending: 'En attente de votre paiement',
    confirming: 'Paiement détecté',
    verifying: 'Suspendu',
    exchanging: 'Échange en cours',
    sending: 'Versement envoyé',
    refunding: 'Remboursement en cours',
    finished: 'Terminé',
    refunded: 'Paiement remboursé',
    failed: 'Clôturé',
  },
  now: {
    pending: 'Envoyez {amount} à l’adresse ci-dessous. Tout le reste se fait automatiquement.',
    confirming: 'Votre paiement a été détecté. Il sera échangé dès que le réseau l’aura confirmé.',
    verifying: 'L’échange est suspendu. Vous n’avez rien à faire, sauf si cette page vous le demande.',
    exchanging: 'Votre paiement est confirmé. L’échange est en cours et le versement est en préparation.',
    sending:
      'Le versement est en route vers l’adresse du destinataire. Il sera terminé lorsque le réseau l’aura confirmé.',
    refunding: 'Votre paiement vous est remboursé, déduction faite des frais de réseau.',
    finished: 'Le versement est arrivé à l’adresse du destinataire et il est confirmé.',
    refunded: 'Votre paiement a été remboursé, déduction faite des frais de réseau, et le réseau l’a confirmé.',
    failed: 'Cet échange est clôturé.',
  },
  timeOver: {
    heading: 'Le délai de paiement est écoulé',
    now: 'Les paiements effectués avant sont encore recherchés.',
  },
  paymentVanished:
    'Votre paiement n’est plus dans la chaîne de blocs. Cherchez-le dans votre portefeuille avant de payer à nouveau.',
  credited: 'L’échange est terminé. Le montant est crédité auprès du service où vous l’avez commencé.',
  reasons: {
    EXPIRED: 'Aucun paiement n’est arrivé à temps.',
    BELOW_MIN: 'Le paiement était inférieur au minimum de cet échange.',
    ABOVE_MAX: 'Le paiement était supérieur à ce qui peut être échangé en ce moment.',
    OUTSIDE_TOLERANCE:
      'Le paiement est arrivé en retard ou avec un autre montant, et le taux actuel est trop éloigné du taux fixe.',
    NO_LIQUIDITY: 'Le paiement n’a pas pu être échangé.',
    DUST: 'Le paiement est trop petit pour couvrir les frais de réseau de son remboursement.',
    LATE_DEPOSIT: 'Le paiement est arrivé après la fin de l’échange.',
    WRONG_ASSET: 'Le paiement a été fait dans une autre devise que celle de cet échange.',
    NOT_RECEIVED: 'Le réseau a annoncé un paiement, mais rien n’a été reçu.',
    PRICE_GUARD:
      'Le prix s’est beaucoup éloigné de celui qui vous a été proposé. L’échange reprendra lorsque le prix sera revenu à ce niveau ou lorsque notre équipe aura pris une décision.',
    REFUND_ADDRESS_REQUIRED: 'Le paiement doit être remboursé, et aucune adresse de remboursement n’est connue.',
    DEPOSIT_VANISHED:
      'Votre paiement n’est plus dans la chaîne de blocs. Il sera traité lorsque le réseau le confirmera de nouveau.',
    REORG_AFTER_PAYOUT:
      'Votre paiement a disparu de la chaîne de blocs après le versement. Notre équipe examine la situation.',
    PAYOUT_VANISHED: 'Le paiement sortant n’est plus dans la chaîne de blocs. Il est envoyé de nouveau.',
    LIMIT: 'Le montant dépasse une limite. Notre équipe le vérifie avant le versement.',
    OPERATOR: 'Notre équipe vérifie cet échange.',
    NETWORK_UNAVAILABLE:
      'L’un des réseaux de cet échange est indisponible pour le moment. L’échange reprendra dès qu’il sera de nouveau disponible.',
    CANCELLED: 'L’échange a été annulé.',
  },
  decided: 'Cette décision a été prise par notre équipe.',
  doNotPay: 'N’envoyez plus rien à l’adresse de dépôt de cet échange.',
  steps: {
    heading: 'Progression',
    payment: 'Paiement',
    confirmations: 'Confirmations',
    exchange: 'Échange',
    payout: 'Versement',
    refund: 'Remboursement',
  },
  confirmations: {
    one: '{seen} sur {needed} confirmation',
    other: '{seen} sur {needed} confirmations',
  },
  expectedDuration: 'Durée prévue',
  deadlines: 'Délais',
  fixedEnds: 'Le taux fixe prend fin dans',
  fixedNote:
    'Le taux est fixe pour un paiement détecté avant ce moment et confirmé peu après\u00a0: payez avec des frais de réseau normaux. Pour un paiement plus tardif, le taux fixe ou le taux actuel s’applique, celui des deux qui vous est le moins favorable. Si l’écart est trop grand, le paiement est remboursé, déduction faite des frais de réseau.',
  fixedOver:
    'Le taux fixe a pris fin. Pour un paiement fait maintenant, le taux fixe ou le taux actuel s’applique, celui des deux qui vous est le moins favorable. Si l’écart est trop grand, le paiement est remboursé, déduction faite des frais de réseau.',
  expires: 'Temps restant pour payer',
  expiryNote:
    'Un paiement qui arrive plus tard n’est pas échangé. Il est remboursé, déduction faite des frais de réseau.',
  floatingNote: 'Le taux n’est pas fixe. Ce que vous recevrez sera calculé lorsque votre paiement sera confirmé.',
  pay: {
    heading: 'Votre paiement',
    amount: 'Montant',
    network: 'Réseau',
    onlyThis:
      'Envoyez uniquement des {currency}, et uniquement sur le réseau {network}. Tout autre envoi peut être perdu.',
    address: 'Adresse de dépôt',
    memo: 'Le paiement doit contenir cette indication\u00a0: {memo}. Sans elle, le paiement ne peut pas être rattaché à votre échange et peut être perdu.',
    qr: 'Code QR de l’adresse de dépôt',
    openWallet: 'Ouvrir dans un portefeuille',
    copy: 'Copier',
    copied: 'Copié',
  },
  details: {
    heading: 'Détails',
    youSend: 'Vous envoyez',
    youGet: 'Vous recevez environ',
    youGetFixed: 'Vous recevez',
    recipient: 'Adresse du destinataire',
    creditedToService: 'Le montant est crédité auprès du service où vous avez commencé l’échange.',
    refundAddress: 'Adresse de remboursement',
    created: 'Créé le',
    id: 'Identifiant de l’échange',
    linkNote: 'Toute personne qui possède l’adresse de cette page peut voir cet échange.',
    privateNote:
      'Toute personne qui possède l’adresse de cette page peut voir les deux côtés de cet échange privé\u00a0: gardez-la pour vous. Un explorateur de blocs dans lequel vous ouvrez les deux transactions peut les relier.',
  },
  deposits: {
    heading: 'Paiements',
    number: 'Paiement {number}',
    status: 'État',
    received: 'Reçu',
    paidOut: 'Versé',
    sentBack: 'Remboursé',
    payin: 'Votre transaction',
    payout: 'Transaction du versement',
    refund: 'Transaction du remboursement',
  },
  refund: {
    heading: 'À quelle adresse faut-il rembourser votre paiement\u202f?',
    intro:
      'Votre paiement est remboursé, déduction faite des frais de réseau. Saisissez une adresse qui vous appartient et qui accepte des {currency} sur le réseau {network}.',
    warning:
      'Vérifiez bien l’adresse. Vous ne pouvez l’indiquer qu’une fois, et un paiement à une mauvaise adresse est perdu.',
    address: 'Adresse de remboursement',
    memoHint: 'Laissez ce champ vide si votre adresse n’en a pas besoin.',
    next: 'Continuer',
    confirmHeading: 'Cette adresse est-elle correcte\u202f?',
    confirmNote: 'Votre paiement sera envoyé à cette adresse. Vous ne pourrez plus la modifier ensuite.',
    confirm: 'Oui, envoyer à cette adresse',
    change: 'Modifier l’adresse',
    askService:
      'Adressez-vous au service où vous avez commencé l’échange\u00a0: c’est lui qui doit indiquer une adresse de remboursement.',
  },
  refundErrors: {
    invalid: 'Cette adresse n’est pas valide sur le réseau {network}.',
    invalidPrivate:
      'Cette adresse n’est pas valide sur le réseau {network}, ou elle appartient au destinataire, qu’un remboursement révélerait.',
    memoRequired: 'Cette adresse exige l’indication suivante\u00a0: {memo}.',
    memoInvalid: 'Cette indication n’est pas valide\u00a0: {memo}.',
    ours: 'C’est une adresse de ce service. Saisissez une adresse de votre propre portefeuille.',
    restricted: 'Cette adresse ne peut pas être utilisée. Saisissez-en une autre.',
    alreadyNamed: 'Une adresse de remboursement est déjà indiquée et ne peut pas être modifiée.',
    failed: 'Cela n’a pas fonctionné. Réessayez dans un instant.',
  },
  failures: {
    notFound: 'Cette page n’existe pas',
    notFoundNote: 'Vérifiez le lien. Il en manque peut-être une partie.',
    tooMany: 'Trop de requêtes',
    tooManyNote: 'Attendez une minute, puis rechargez la page.',
    unavailable: 'Le service ne répond pas',
    unavailableNote: 'Réessayez dans un instant. Votre échange continue entre-temps.',
  },
}
