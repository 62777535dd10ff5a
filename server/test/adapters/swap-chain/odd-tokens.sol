// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// Returns its name as bytes32, as MKR and SAI do.
contract Bytes32Token {
    bytes32 public constant name = "Maker";
    bytes32 public constant symbol = "MKR";
    uint8 public constant decimals = 18;
}

/// Has a name but no decimals, like an ERC-721.
contract Collection {
    string public constant name = "Apes";
    string public constant symbol = "APE";
}

/// Has more decimals than any amount can be printed with.
contract Absurd {
    string public constant name = "Absurd";
    string public constant symbol = "ABS";
    uint256 public constant decimals = 400;
}

/// Returns a name of 50 MB, which would exhaust the reader's memory.
contract Endless {
    uint8 public constant decimals = 6;
    string public constant symbol = "END";

    function name() external pure returns (string memory) {
        return string(new bytes(50_000_000));
    }
}

/// Never returns.
contract Looping {
    uint8 public constant decimals = 6;

    function symbol() external pure returns (string memory) {
        for (uint256 n = 1; n > 0; n++) {}
        return "";
    }
}

/// Has text that is no UTF-8.
contract Garbled {
    uint8 public constant decimals = 6;
    bytes public constant name = hex"fffe41c3";
    bytes public constant symbol = hex"ff42";
}

/// Reverts when it is asked for its symbol.
contract Mute {
    uint8 public constant decimals = 6;

    function symbol() external pure returns (string memory) {
        revert();
    }
}

/// Reverts with a custom error.
contract Grumpy {
    mapping(address => mapping(address => uint256)) public allowance;

    error NotToday(uint256 day);

    function balanceOf(address) external pure returns (uint256) {
        return 10 ** 30;
    }

    function approve(address, uint256) external pure returns (bool) {
        revert NotToday(3);
    }
}

/// Keeps a tenth of each transfer, but not where a transaction has no fees, as in a careless simulation.
contract Pretender {
    string public constant name = "Pretender";
    string public constant symbol = "PRE";
    uint8 public constant decimals = 18;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    function mint(address to, uint256 units) external {
        balanceOf[to] += units;
    }

    function approve(address spender, uint256 units) external returns (bool) {
        allowance[msg.sender][spender] = units;
        return true;
    }

    function transfer(address to, uint256 units) external returns (bool) {
        return move(msg.sender, to, units);
    }

    function transferFrom(address from, address to, uint256 units) external returns (bool) {
        allowance[from][msg.sender] -= units;
        return move(from, to, units);
    }

    function move(address from, address to, uint256 units) private returns (bool) {
        bool isSimulated = tx.gasprice == 0 || block.basefee == 0 || block.coinbase == address(0)
            || block.prevrandao == 0;
        balanceOf[from] -= units;
        balanceOf[to] += isSimulated ? units : units - units / 10;
        return true;
    }
}

/// Answers as 0x's registry of Settler contracts.
contract SettlerRegistry {
    function ownerOf(uint256 feature) external view returns (address) {
        require(feature == 2 && block.number > 0);
        return 0x1111111111111111111111111111111111111111;
    }

    function prev(uint128 feature) external pure returns (address) {
        require(feature == 2);
        return 0x2222222222222222222222222222222222222222;
    }
}
