// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

// Tokens with the behaviour of deployed ones. Simplified for tests: do not deploy.

abstract contract Token {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    string public name;
    string public symbol;
    uint8 public immutable decimals;
    uint256 public totalSupply;
    mapping(address => uint256) internal held;
    mapping(address => mapping(address => uint256)) public allowance;

    constructor(string memory name_, string memory symbol_, uint8 decimals_) {
        name = name_;
        symbol = symbol_;
        decimals = decimals_;
    }

    function balanceOf(address owner) public view virtual returns (uint256) {
        return held[owner];
    }

    function mint(address to, uint256 value) external virtual {
        totalSupply += value;
        held[to] += value;
        emit Transfer(address(0), to, value);
    }

    function move(address from, address to, uint256 value) internal virtual {
        require(held[from] >= value, "balance");
        held[from] -= value;
        held[to] += value;
        emit Transfer(from, to, value);
    }

    function allow(address spender, uint256 value) internal {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
    }

    function spend(address from, uint256 value) internal {
        uint256 allowed = allowance[from][msg.sender];
        require(allowed >= value, "allowance");
        if (allowed != type(uint256).max) allowance[from][msg.sender] = allowed - value;
    }
}

/// A standard ERC-20 token.
contract StandardToken is Token {
    constructor(string memory name_, string memory symbol_, uint8 decimals_) Token(name_, symbol_, decimals_) {}

    function transfer(address to, uint256 value) external virtual returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external virtual returns (bool) {
        spend(from, value);
        move(from, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external virtual returns (bool) {
        allow(spender, value);
        return true;
    }
}

/// Like USDT on Ethereum: no return values, approvals only from or to zero, and a blacklist (D21).
contract NoReturnToken is Token {
    mapping(address => bool) public isBlackListed;

    constructor(string memory name_, string memory symbol_, uint8 decimals_) Token(name_, symbol_, decimals_) {}

    function transfer(address to, uint256 value) external {
        require(!isBlackListed[msg.sender], "blacklisted");
        move(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) external {
        require(!isBlackListed[from], "blacklisted");
        spend(from, value);
        move(from, to, value);
    }

    function approve(address spender, uint256 value) external {
        require(value == 0 || allowance[msg.sender][spender] == 0, "reset first");
        allow(spender, value);
    }

    function addBlackList(address user) external {
        isBlackListed[user] = true;
    }

    function destroyBlackFunds(address user) external {
        require(isBlackListed[user], "not blacklisted");
        totalSupply -= held[user];
        held[user] = 0;
    }
}

/// Returns false instead of reverting (D20).
contract FalseToken is Token {
    bool public refusing;

    constructor(string memory name_, string memory symbol_, uint8 decimals_) Token(name_, symbol_, decimals_) {}

    function refuse(bool refusing_) external {
        refusing = refusing_;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        if (refusing || held[msg.sender] < value) return false;
        move(msg.sender, to, value);
        return true;
    }
}

/// A fee-on-transfer token: its event contains the full value (D17).
contract FeeToken is StandardToken {
    uint256 public immutable feeBps;

    constructor(string memory name_, string memory symbol_, uint8 decimals_, uint256 feeBps_)
        StandardToken(name_, symbol_, decimals_)
    {
        feeBps = feeBps_;
    }

    function move(address from, address to, uint256 value) internal override {
        require(held[from] >= value, "balance");
        uint256 fee = (value * feeBps) / 10_000;
        held[from] -= value;
        held[to] += value - fee;
        totalSupply -= fee;
        emit Transfer(from, to, value);
    }
}

/// A rebasing token: anyone may rescale all balances (D19).
contract RebasingToken is StandardToken {
    uint256 public scaleBps = 10_000;

    constructor(string memory name_, string memory symbol_, uint8 decimals_) StandardToken(name_, symbol_, decimals_) {}

    function rebase(uint256 scaleBps_) external {
        scaleBps = scaleBps_;
    }

    function balanceOf(address owner) public view override returns (uint256) {
        return (held[owner] * scaleBps) / 10_000;
    }

    function move(address from, address to, uint256 value) internal override {
        uint256 shares = (value * 10_000) / scaleBps;
        require(held[from] >= shares, "balance");
        held[from] -= shares;
        held[to] += shares;
        emit Transfer(from, to, value);
    }
}

/// Emits false Transfer events (D15, D16), and lets anyone transfer zero from any account (D18).
contract LyingToken is StandardToken {
    constructor(string memory name_, string memory symbol_, uint8 decimals_) StandardToken(name_, symbol_, decimals_) {}

    function state(address from, address to, uint256 value) external {
        emit Transfer(from, to, value);
    }

    function transferFrom(address from, address to, uint256 value) external override returns (bool) {
        require(value == 0, "nothing but nothing");
        emit Transfer(from, to, value);
        return true;
    }
}
