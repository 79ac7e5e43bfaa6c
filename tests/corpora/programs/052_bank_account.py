class InsufficientFunds(Exception):
    def __init__(self, needed, available):
        super().__init__(f"need {needed}, have {available}")
        self.needed = needed
        self.available = available

class Account:
    def __init__(self, owner, balance=0):
        self.owner = owner
        self.balance = balance
        self.history = []

    def withdraw(self, amount):
        if amount > self.balance:
            raise InsufficientFunds(amount, self.balance)
        self.balance -= amount
        self.history.append(-amount)

    def deposit(self, amount):
        self.balance += amount
        self.history.append(amount)

account = Account("ada", 100)
account.deposit(50)
try:
    account.withdraw(500)
except InsufficientFunds as error:
    print("refused:", error)
    account.withdraw(error.available // 2)
return {"balance": account.balance, "history": account.history}
